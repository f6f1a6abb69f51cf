import type { PictureLimits } from '../../contract/index.ts';

/** The vendor: under 30 MB a picture, sides 300–6000 px, a request under 64 MB. Smaller here: pictures travel inline. */
export const arkPictureLimits: PictureLimits = {
  maxSidePx: 4_096,
  maxBytes: 8_000_000,
  mimes: ['image/jpeg', 'image/png', 'image/webp'],
};
