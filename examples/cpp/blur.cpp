// A class around a picture; its loops work on plain pointers, and are marked.
#include "blur.hpp"

#include <algorithm>
#include <cmath>

namespace picture {

using real = float;
constexpr int RADIUS = 2;

Image::Image(int width, int height) : width_(width), height_(height), pixels_(std::size_t(width) * height) {}

void Image::blur(Image &out) const
{
  const int w = width_, h = height_;
  const real *in = pixels_.data();
  real *to = out.pixels_.data();
#pragma scop
  for (int y = RADIUS; y < h - RADIUS; ++y)
    for (int x = RADIUS; x < w - RADIUS; ++x) {
      real sum = 0;
      for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx)
          sum += in[(y + dy) * w + x + dx];
      to[y * w + x] = std::min(std::sqrt(std::abs(sum)), real(255));
    }
#pragma endscop
}

double Image::likeness(const Image &other) const
{
  const std::size_t n = pixels_.size();
  const real *a = pixels_.data(), *b = other.pixels_.data();
  double sum = 0;
#pragma scop
#pragma tilewright reassociate
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<double>(a[i]) * b[i];
#pragma endscop
  return sum;
}

}
