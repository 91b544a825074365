/* Asks for the properties of the device as a program that was linked with the runtime VERSION does, and prints the SMs, which stand at PLACE. */
#include <stdio.h>

int cudaGetDeviceProperties(char *, int);
__asm__(".symver cudaGetDeviceProperties, cudaGetDeviceProperties@" VERSION);

int main(void) {
  char properties[1032];
  return cudaGetDeviceProperties(properties, 0) || *(int *)(properties + PLACE) != 68 || properties[0] != 'N';
}
