#pragma once
#include <vector>

namespace picture {

class Image {
public:
  Image(int width, int height);
  float &at(int x, int y) { return pixels_[std::size_t(y) * width_ + x]; }
  void blur(Image &out) const;
  double likeness(const Image &other) const;

private:
  int width_, height_;
  std::vector<float> pixels_;
};

}
