/* SPDX-License-Identifier: Apache-2.0 */
/* The version of hone and hone-runner, which are built together. */
#ifndef HONE_BASE_VERSION_H
#define HONE_BASE_VERSION_H

#ifndef HONE_VERSION
#define HONE_VERSION "0.1.0"
#endif

#endif
