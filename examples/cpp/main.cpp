// Blurs a picture, and prints how much is left of it.
//     blur [width [height]]
#include "blur.hpp"

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv)
{
  const int width = argc > 1 ? std::atoi(argv[1]) : 1920, height = argc > 2 ? std::atoi(argv[2]) : 1080;
  if (width < 1 || height < 1 || argc > 3) {
    std::cerr << "usage: blur [width [height]]\n";
    return 2;
  }
  picture::Image sharp(width, height), soft(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      sharp.at(x, y) = static_cast<float>((x ^ y) % 16);
  sharp.blur(soft);
  std::cout << soft.at(width / 2, height / 2) << " " << sharp.likeness(soft) << "\n";
}
