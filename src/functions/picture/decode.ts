import sharp, { type Sharp } from 'sharp';

/**
 * Larger pictures are refused by their header, before anything is decoded: some kilobytes can hold a picture of gigabytes.
 * 120 million pixels are more than a phone makes, and 360 MB once decoded.
 */
const maxInputPixels = 120_000_000;

/** Opens a picture that came from outside: every decoding of this room goes through here. */
export function decode(bytes: Uint8Array): Sharp {
  return sharp(bytes, { limitInputPixels: maxInputPixels });
}
