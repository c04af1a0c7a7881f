/* Sound: samples in blocks, filters that remember, channels that alternate. */
#ifndef AUDIO_H
#define AUDIO_H

typedef float sample_t;

typedef struct {
    float b0, b1, b2, a1, a2;
    float z1, z2;
} biquad;

void fir_block(const sample_t *x, sample_t *y, int n, const float *h, int taps);
void biquad_bank(biquad *q, int filters, const sample_t *x, sample_t *y, int n);
void window_frames(const sample_t *x, sample_t *frames, int count, int size, int hop, const float *window);
void overlap_add(const sample_t *frames, sample_t *y, int count, int size, int hop);
void decimate(const sample_t *x, sample_t *y, int n, int factor, const float *h, int taps);
void split_stereo(const short *pcm, sample_t *left, sample_t *right, int frames);
void mix_down(sample_t **tracks, const float *gain, const int *muted, int n_tracks, sample_t *out, int n);
void autocorrelate(const sample_t *x, int n, int lags, double *r);

#endif
