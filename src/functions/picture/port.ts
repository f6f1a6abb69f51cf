/** What a picture is, measured. */
export interface PictureFacts {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly format: string;
  /** Standard deviation of the Laplacian at a long side of 1024 px; below about 4 a picture looks soft. */
  readonly sharpness: number;
  /** Share of the border that is one colour, or fully transparent (0–1). */
  readonly groundRatio: number;
  readonly ground: 'transparent' | 'plain' | 'busy';
  /** The border's colour as `#rrggbb`. */
  readonly groundColor: string;
}

export interface SheetOptions {
  readonly columns: number;
  readonly cellWidthPx: number;
  readonly gapPx: number;
}

/** Picture work, off the event loop; rejects for bytes that are no readable picture. A port: simulations have their own. */
export interface PictureWorker {
  measure(bytes: Uint8Array): Promise<PictureFacts>;
  /** One sheet of all pictures in reading order, each numbered by dots drawn below it; PNG. */
  contactSheet(pictures: readonly Uint8Array[], options: SheetOptions): Promise<Uint8Array>;
  /** Makes the plain ground around a motif transparent; PNG. `keptRatio` is the share of the picture that stays. */
  cutOut(bytes: Uint8Array, tolerance: number): Promise<{ readonly bytes: Uint8Array; readonly keptRatio: number }>;
  /** Scales to a long side for print and notes the resolution; PNG. */
  printSize(bytes: Uint8Array, longSidePx: number, dpi: number): Promise<Uint8Array>;
  /** Writes the label that the law asks of generated pictures: into the metadata, or visibly into a corner as well. */
  label(bytes: Uint8Array, mode: 'metadata' | 'visible', producer: string): Promise<Uint8Array>;
}
