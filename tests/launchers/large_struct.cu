// A kernel with much by value: arrays in a struct.
// @inputs A
// @outputs C
// @axes N=1000
// | many <<<1, 32>>> ({A A+40 A+80 A+120 4 0}, C)

struct Table {
    const float *row[4];
    int n;
};
__global__ void many(const __grid_constant__ Table table, float *out)
{
    out[0] = table.row[table.n - 1][0];
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    Table table;
    for (int i = 0; i < 4; i++)
        table.row[i] = A + i * 10;
    table.n = 4;
    many<<<1, 32, 0, stream>>>(table, C);
}
