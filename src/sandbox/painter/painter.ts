/** What a generated picture is to look like. */
export type Scene = 'wear' | 'shot' | 'grid' | 'element' | 'retouch' | 'scene';

export interface PictureOrder {
  readonly scene: Scene;
  /** Input pictures, best first; any of them may be no picture at all. */
  readonly inputs: readonly Uint8Array[];
  readonly widthPx: number;
  readonly heightPx: number;
  /** Decides colours and poses: the same order gives the same bytes. */
  readonly seed: number;
  readonly format: 'png' | 'jpeg';
}

export interface VideoOrder {
  readonly inputs: readonly Uint8Array[];
  readonly widthPx: number;
  readonly heightPx: number;
  readonly seconds: number;
  readonly seed: number;
}

/** Makes media out of bytes, a pure function of its order. The real one uses sharp; the simulator a cheap one in memory. */
export interface Painter {
  paint(order: PictureOrder): Promise<Uint8Array<ArrayBuffer>>;
  film(order: VideoOrder): Promise<Uint8Array<ArrayBuffer>>;
  /** A vector drawing as PNG. */
  draw(svg: string, widthPx: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Whether these bytes are a picture that a vendor could read. */
  isPicture(bytes: Uint8Array): boolean;
}

/** Magic numbers of the pictures that vendors take. */
export function looksLikePicture(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  return (
    head.startsWith('\x89PNG\r\n\x1a\n') ||
    head.startsWith('\xff\xd8\xff') ||
    head.startsWith('GIF8') ||
    (head.startsWith('RIFF') && head.slice(8) === 'WEBP')
  );
}
