/* Struct members as sizes, as scalars and as arrays; an array of structs. */
struct image {
    int width, height;
    float gain;
    float data[480][640];
};
struct point {
    float x, y;
};

void brighten(const struct image *src, struct image *dst, float offset)
{
#pragma scop
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            dst->data[y][x] = src->gain * src->data[y][x] + offset;
#pragma endscop
}

void move(int n, struct point p[n], struct point by)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p[i].x += by.x;
        p[i].y += by.y;
    }
#pragma endscop
}
