extern "C" __global__ void boss_outer(const float *a, const float *b, float *target, unsigned rows, unsigned columns) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    // learn: your code
    unsigned row = i / columns, column = i % columns;
    // learn: instead
    //| // TODO
    //| unsigned row = i % rows, column = i / rows;
    // learn: end
    target[row * columns + column] = a[row] * b[column];
}
