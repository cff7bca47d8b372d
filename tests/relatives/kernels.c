/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that relatives are made from: those of the packs and of tests/relatives/cpu, and some
 * that no rule may thread. Sums grow in memory here; transform.c gives them a local. */
#include "tests/relatives/relative.h"

const struct relative_kernel relative_kernels[] = {
    {"product", "C[N,M] A[N,K] B[K,M]", "N M K", 0,
     "for i 0 N { for j 0 M { C(i,j) = 0; for k 0 K { C(i,j) += A(i,k) * B(k,j); } } }"},
    {"product_nt", "C[N,M] A[N,K] B[M,K]", "N M K", 0,
     "for i 0 N { for j 0 M { C(i,j) = 0; for k 0 K { C(i,j) += A(i,k) * B(j,k); } } }"},
    {"gemm", "C[N,M] A[N,K] B[K,M]", "N M K", 0,
     "for i 0 N { for j 0 M { C(i,j) *= HALF; }"
     " for k 0 K { for j 0 M { C(i,j) += HALF * A(i,k) * B(k,j); } } }"},
    {"batched", "C[L,N,M] A[L,N,K] B[K,M]", "L N M K", 0,
     "for b 0 L { for i 0 N { for j 0 M { C(b,i,j) = 0;"
     " for k 0 K { C(b,i,j) += A(b,i,k) * B(k,j); } } } }"},
    {"two_products", "D[N,L] E[N,M] A[N,K] B[K,M] C[M,L]", "N M K L", 0,
     "for i 0 N { for j 0 M { E(i,j) = 0; for k 0 K { E(i,j) += A(i,k) * B(k,j); } } }"
     "for i 0 N { for j 0 L { D(i,j) = HALF; for k 0 M { D(i,j) += E(i,k) * C(k,j); } } }"},
    {"distance", "D[N,M] A[N,K] B[M,K]", "N M K", 0,
     "for i 0 N { for j 0 M { D(i,j) = 0; for k 0 K {"
     " D(i,j) += (A(i,k) - B(j,k)) * (A(i,k) - B(j,k)); } } }"},
    {"matvec", "y[N] A[N,M] x[M]", "N M", 0,
     "for i 0 N { y(i) = 0; for j 0 M { y(i) += A(i,j) * x(j); } }"},
    {"atax", "y[M] t[N] A[N,M] x[M]", "N M", 0,
     "for j 0 M { y(j) = 0; } for i 0 N { t(i) = 0; for j 0 M { t(i) += A(i,j) * x(j); }"
     " for j 0 M { y(j) += A(i,j) * t(i); } }"},
    {"bicg", "s[M] q[N] A[N,M] p[M] r[N]", "N M", 0,
     "for j 0 M { s(j) = 0; } for i 0 N { q(i) = 0;"
     " for j 0 M { s(j) += r(i) * A(i,j); q(i) += A(i,j) * p(j); } }"},
    {"outer", "A[N,M] u[N] v[M] w[N]", "N M", 0,
     "for i 0 N { for j 0 M { A(i,j) = A(i,j) + u(i) * v(j) + w(i); } }"},
    {"transpose", "Y[M,N] X[N,M]", "N M", 0, "for i 0 N { for j 0 M { Y(j,i) = X(i,j); } }"},
    {"map", "Y[N,M] X[N,M] b[M]", "N M", FLOATS,
     "for i 0 N { for j 0 M { Y(i,j) = X(i,j) / (1 + EXP(-X(i,j))) + b(j); } }"},
    {"row_sum", "y[N] X[N,M]", "N M", 0, "for i 0 N { y(i) = 0; for j 0 M { y(i) += X(i,j); } }"},
    {"col_sum", "y[M] X[N,M]", "N M", 0,
     "for j 0 M { y(j) = 0; } for i 0 N { for j 0 M { y(j) += X(i,j); } }"},
    {"row_max", "y[N] X[N,M]", "N M", 0,
     "for i 0 N { y(i) = X(i,0); for j 0 M { y(i) = X(i,j) > y(i) ? X(i,j) : y(i); } }"},
    {"dot", "s[1] A[N] B[N]", "N", 0, "s(0) = 0; for i 0 N { s(0) += A(i) * B(i); }"},
    {"softmax", "Y[N,M] X[N,M] s[N]", "N M", FLOATS,
     "for i 0 N { T m = X(i,0); for j 0 M { if (X(i,j) > m) m = X(i,j); }"
     " s(i) = 0; for j 0 M { s(i) += EXP(X(i,j) - m); }"
     " for j 0 M { Y(i,j) = EXP(X(i,j) - m) / s(i); } }"},
    {"centre", "D[N,M] m[M]", "N M", FLOATS,
     "for j 0 M { m(j) = 0; for i 0 N { m(j) += D(i,j); } m(j) = m(j) / N; }"
     "for i 0 N { for j 0 M { D(i,j) -= m(j); } }"},
    {"conv2d", "Y[N-K+1,M-K+1] X[N,M] W[K,K]", "K:3 N M", 0,
     "for i 0 N-K+1 { for j 0 M-K+1 { Y(i,j) = 0; for p 0 K { for q 0 K {"
     " Y(i,j) += X(i+p,j+q) * W(p,q); } } } }"},
    {"conv1d", "y[N-K+1] x[N] w[K]", "K:4 N", 0,
     "for i 0 N-K+1 { y(i) = 0; for k 0 K { y(i) += x(i+k) * w(k); } }"},
    {"jacobi", "U[N,M] V[N,M]", "N M S:3", 0,
     "for t 0 S { for i 1 N-1 { for j 1 M-1 {"
     " V(i,j) = HALF * (U(i,j) + U(i,j-1) + U(i,j+1) + U(i-1,j) + U(i+1,j)); } }"
     " for i 1 N-1 { for j 1 M-1 { U(i,j) = V(i,j); } } }"},
    {"seidel", "U[N,M]", "N M", FLOATS,
     "for i 1 N-1 { for j 1 M-1 {"
     " U(i,j) = HALF * HALF * (U(i,j-1) + U(i,j+1) + U(i-1,j) + U(i+1,j)); } }"},
    {"scan", "Y[N,M] X[N,M]", "N M", 0,
     "for i 0 N { Y(i,0) = X(i,0); for j 1 M { Y(i,j) = Y(i,j-1) + X(i,j); } }"},
    {"syrk", "C[N,N] A[N,M]", "N M", 0,
     "for i 0 N { for j 0 i+1 { C(i,j) *= HALF; }"
     " for k 0 M { for j 0 i+1 { C(i,j) += A(i,k) * A(j,k); } } }"},
    {"lu", "A[N,N]", "N", FLOATS,
     "for i 0 N { for j 0 i { for k 0 j { A(i,j) -= A(i,k) * A(k,j); }"
     " A(i,j) /= 8 + A(j,j) * A(j,j); }"
     " for j i N { for k 0 i { A(i,j) -= A(i,k) * A(k,j); } } }"},
    {"floyd", "P[N,N]", "N", 0,
     "for k 0 N { for i 0 N { for j 0 N {"
     " P(i,j) = P(i,j) < P(i,k) + P(k,j) ? P(i,j) : P(i,k) + P(k,j); } } }"},
    {"histogram", "H[N] #b[M] v[M]", "N M", 0,
     "for i 0 N { H(i) = 0; } for i 0 M { H(b(i)) += v(i); }"},
    {"gather", "Y[N,M] #b[N] X[N,M]", "N M", 0,
     "for i 0 N { for j 0 M { Y(i,j) = X(b(i),j) * HALF; } }"},
    {"forces", "F[N] x[N] m[N]", "N", FLOATS,
     "for i 0 N { F(i) = 0; for j 0 N { T d = x(j) - x(i); F(i) += m(j) * d / (1 + d * d); } }"},
    {"polynomial", "y[N] x[N] c[K]", "N K", FLOATS,
     "for i 0 N { T p = 0; for k 0 K { p = p * x(i) * HALF + c(k); } y(i) = p; }"},
    {"relax", "x[N] A[N,N] b[N]", "N", FLOATS,
     "for i 0 N { x(i) = b(i); for j 0 i { x(i) -= A(i,j) * x(j) * HALF; } x(i) = x(i) / 4; }"},
    {"counts", "y[N] X[N,M]", "N M", 0,
     "for i 0 N { y(i) = 0; for j 0 M { if (X(i,j) > 0) { y(i) += 1; } } }"},
};
const size_t relative_n_kernels = HONE_COUNTOF(relative_kernels);
