/* Layers of neural networks, forward and backward, on flat tensors. */
#ifndef NN_H
#define NN_H

typedef struct {
    int batch, inputs, outputs;
    int h, w, c;
    int out_h, out_w;
    float *output, *delta, *biases, *bias_updates, *mean, *variance;
    int *indexes;
} layer;

void layernorm_rows(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int B,
                    int T, int C);
void linear_forward(float *out, const float *inp, const float *weight, const float *bias, int B, int T, int C, int OC);
void attention_scores(float *att, const float *qkv, int B, int T, int C, int NH);
void softmax_rows(float *probs, const float *logits, int B, int T, int V);
void maxpool_forward(const layer l, const float *input);
void im2col(const float *im, int channels, int height, int width, int ksize, int pad, float *col);
void batchnorm_forward(layer l, const float *x);
void bias_backward(layer l);
void adamw_update(float *params, const float *grads, float *m, float *v, long n, float lr, float beta1, float beta2,
                  float eps, float decay);

#endif
