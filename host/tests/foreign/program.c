// A program of the driver API that knows nothing of this workspace: `program PTX MODE`.
// Its declarations are those of NVIDIA's cuda.h, so that no toolkit is needed to compile it.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
extern int cuInit(unsigned);
extern int cuDeviceGet(int *, int);
extern int cuCtxCreate_v2(CUcontext *, unsigned, int);
extern int cuCtxDestroy_v2(CUcontext);
extern int cuCtxSynchronize(void);
extern int cuModuleLoadData(CUmodule *, const void *);
extern int cuModuleGetFunction(CUfunction *, CUmodule, const char *);
extern int cuMemAlloc_v2(CUdeviceptr *, size_t);
extern int cuMemFree_v2(CUdeviceptr);
extern int cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
extern int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                          void **, void **);

static char ptx[1 << 16];
static CUmodule module;

// Launches a kernel on one block of 64 threads with one array of 64 words.
static int launch(const char *name, CUdeviceptr array) {
    CUfunction function;
    void *arguments[] = {&array};
    if (cuModuleGetFunction(&function, module, name)) return 1;
    return cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, arguments, 0);
}

int main(int count, char **arguments) {
    const char *mode = count > 2 ? arguments[2] : "";
    if (!strcmp(mode, "nothing")) return 7;
    FILE *file = fopen(arguments[1], "r");
    if (!file) return 2;
    ptx[fread(ptx, 1, sizeof ptx - 1, file)] = 0;
    int device;
    CUcontext context;
    CUdeviceptr array;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate_v2(&context, 0, device)) return 3;
    if (cuModuleLoadData(&module, ptx) || cuMemAlloc_v2(&array, 256)) return 4;
    if (cuMemsetD32_v2(array, 1, 64)) return 5;
    if (launch("twice", array) || cuCtxSynchronize()) return 6;
    if (!strcmp(mode, "race") && (launch("race", array) || cuCtxSynchronize())) return 6;
    if (!strcmp(mode, "says") && (launch("says", array) || cuCtxSynchronize())) return 6;
    // A child that ends as its parent does must not write what its parent did.
    if (!strcmp(mode, "fork") && fork() == 0) exit(0);
    if (!strcmp(mode, "fork")) wait(0);
    if (!strcmp(mode, "sleeps")) sleep(20);
    // An interrupt ends the kernel alone.
    if (!strcmp(mode, "patient")) signal(SIGINT, SIG_IGN);
    if (!strcmp(mode, "patient") || !strcmp(mode, "counts")) return launch("counts", array) || cuCtxSynchronize() ? 9 : 0;
    if (!strcmp(mode, "killed")) {
        sleep(1);
        abort();
    }
    if (!strcmp(mode, "vanishes")) _exit(3);
    if (!strcmp(mode, "forgets")) _exit(launch("says", array) || launch("twice", array) ? 9 : 3);
    if (strcmp(mode, "leak")) cuMemFree_v2(array);
    int failed = !strcmp(mode, "outside") && (launch("outside", array), cuCtxSynchronize());
    cuCtxDestroy_v2(context);
    return failed ? 8 : 0;
}
