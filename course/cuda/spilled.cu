extern "C" __global__ void spilled(const float *source, float *target, unsigned rows, unsigned columns) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float last[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (unsigned row = 0; row < rows; row++) {
        unsigned at = row * columns + column;
        float value = source[at];
        // learn: your code
        last[0] = last[1], last[1] = last[2], last[2] = last[3], last[3] = value;
        float sum = last[0] + last[1] + last[2] + last[3];
        // learn: instead
        //| // TODO: does the compiler know which element this is?
        //| last[row % 4] = value;
        //| unsigned oldest = row + 1;
        //| float sum = 0.0f;
        //| for (unsigned age = 0; age < 4; age++) sum += last[(oldest + age) % 4];
        // learn: end
        target[at] = sum;
    }
}
