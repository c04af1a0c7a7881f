/* y = relu(x w + bias): a batch of rows x goes through one dense layer with n_in inputs and n_out outputs. */
void layer(int batch, int n_in, int n_out, float x[batch][n_in], float w[n_in][n_out], float bias[n_out],
           float y[batch][n_out]);

/* The same source, compiled as it is (see Makefile). */
void layer_plain(int batch, int n_in, int n_out, float x[batch][n_in], float w[n_in][n_out], float bias[n_out],
                 float y[batch][n_out]);
