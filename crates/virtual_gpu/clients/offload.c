#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <omp.h>
int main(void) {
    enum { N = 4096 };
    static float x[N], y[N];
    double sum = 0;
    int devices = omp_get_num_devices(), host = 1;
    for (int i = 0; i < N; i++) x[i] = i % 100, y[i] = 1;
    #pragma omp target map(from: host)
    host = omp_is_initial_device();
    #pragma omp target teams distribute parallel for map(to: x) map(tofrom: y)
    for (int i = 0; i < N; i++) y[i] += 2 * x[i];
    #pragma omp target teams distribute parallel for reduction(+: sum) map(to: y) map(tofrom: sum)
    for (int i = 0; i < N; i++) sum += y[i];
    double expected = 0;
    int wrong = 0;
    for (int i = 0; i < N; i++) { float e = 1 + 2.f * (i % 100); expected += e; wrong += y[i] != e; }
    printf("devices %d, on the host %d, wrong %d, sum %g of %g\n", devices, host, wrong, sum, expected);
    return wrong || sum != expected || host;
}
