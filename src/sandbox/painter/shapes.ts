/** Drawings out of plain shapes: no font is ever needed. Each returns the inside of an SVG of the given size. */
export interface Canvas {
  readonly widthPx: number;
  readonly heightPx: number;
}

export function svg(canvas: Canvas, inner: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${canvas.widthPx}" height="${canvas.heightPx}" viewBox="0 0 ${canvas.widthPx} ${canvas.heightPx}">${inner}</svg>`;
}

/** A calm colour from a seed. */
function hue(seed: number, turn = 0): number {
  return (seed + turn) % 360;
}

/** The letters S, I, M on a 3 × 5 raster. */
const rasters = ['111100111001111', '111010010010111', '101111111101101'];

/** The mark of a simulated picture: a striped badge with three letters made of squares, in the upper left corner. */
export function simulatedMark(canvas: Canvas): string {
  const unit = Math.max(2, Math.round(canvas.widthPx / 160));
  const width = unit * 17;
  const height = unit * 9;
  const x = unit * 3;
  const y = unit * 3;
  const letters = rasters
    .map((raster, index) =>
      Array.from(raster, (bit, cell) =>
        bit === '1'
          ? `<rect x="${x + unit * (3 + index * 4 + (cell % 3))}" y="${y + unit * (2 + Math.floor(cell / 3))}" width="${unit}" height="${unit}"/>`
          : '',
      ).join(''),
    )
    .join('');
  const edge = Array.from(
    { length: 9 },
    (_unused, index) =>
      `<path d="M${x + index * unit * 2} ${y + height + unit * 2}l${unit} ${-unit}h${unit}l${-unit} ${unit}z"/>`,
  ).join('');
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${unit * 2}" fill="#1b1d2a" fill-opacity=".72"/><g fill="#ffd75e">${letters}</g><g fill="#ffd75e" fill-opacity=".85">${edge}</g>`;
}

/** A studio: wall, floor, a soft window of light. */
export function studio(canvas: Canvas, seed: number): string {
  const { widthPx: w, heightPx: h } = canvas;
  const tone = hue(seed);
  return `<defs><linearGradient id="wall" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="hsl(${tone} 32% 92%)"/><stop offset="1" stop-color="hsl(${tone} 26% 82%)"/></linearGradient>
<radialGradient id="light" cx=".25" cy=".2" r=".9"><stop offset="0" stop-color="#fff" stop-opacity=".75"/><stop offset="1" stop-color="#fff" stop-opacity="0"/></radialGradient></defs>
<rect width="${w}" height="${h}" fill="url(#wall)"/><rect y="${h * 0.82}" width="${w}" height="${h * 0.18}" fill="hsl(${tone} 20% 74%)"/><rect width="${w}" height="${h}" fill="url(#light)"/>`;
}

/** Where the product lies on the figure, as parts of the canvas. */
export const torso = { left: 0.27, top: 0.27, width: 0.46, height: 0.5 } as const;

/** A person in the studio, body parts behind the product. */
export function figure(canvas: Canvas, seed: number): string {
  const { widthPx: w, heightPx: h } = canvas;
  const skin = ['#e8b998', '#d9a27c', '#f0c8aa'][seed % 3] ?? '#e8b998';
  const hair = ['#2b2320', '#4a3426', '#1d1d22'][(seed >>> 3) % 3] ?? '#2b2320';
  const lean = ((seed >>> 5) % 5) - 2;
  const at = (x: number, y: number): string => `${(x * w).toFixed(1)} ${(y * h).toFixed(1)}`;
  return `<ellipse cx="${w * 0.5}" cy="${h * 0.95}" rx="${w * 0.26}" ry="${h * 0.018}" fill="#000" opacity=".14"/>
<g transform="rotate(${lean} ${w * 0.5} ${h * 0.9})"><path d="M${at(0.43, 0.7)}L${at(0.42, 0.94)}H${(w * 0.475).toFixed(1)}L${at(0.5, 0.72)}L${at(0.525, 0.94)}H${(w * 0.58).toFixed(1)}L${at(0.57, 0.7)}z" fill="${skin}"/>
<path d="M${at(0.4, 0.93)}h${(w * 0.085).toFixed(1)}v${(h * 0.022).toFixed(1)}h${(-w * 0.11).toFixed(1)}zM${at(0.515, 0.93)}h${(w * 0.085).toFixed(1)}l${(w * 0.025).toFixed(1)} ${(h * 0.022).toFixed(1)}h${(-w * 0.11).toFixed(1)}z" fill="#f7f7f8"/>
<path d="M${at(0.33, 0.3)}C${at(0.25, 0.36)} ${at(0.25, 0.5)} ${at(0.27, 0.6)}h${(w * 0.045).toFixed(1)}C${at(0.315, 0.5)} ${at(0.32, 0.42)} ${at(0.37, 0.36)}zM${at(0.67, 0.3)}C${at(0.75, 0.36)} ${at(0.75, 0.5)} ${at(0.73, 0.6)}h${(-w * 0.045).toFixed(1)}C${at(0.685, 0.5)} ${at(0.68, 0.42)} ${at(0.63, 0.36)}z" fill="${skin}"/>
<path d="M${at(0.5, 0.055)}c${(-w * 0.12).toFixed(1)} 0 ${(-w * 0.14).toFixed(1)} ${(h * 0.1).toFixed(1)} ${(-w * 0.13).toFixed(1)} ${(h * 0.19).toFixed(1)}h${(w * 0.26).toFixed(1)}c${(w * 0.01).toFixed(1)} ${(-h * 0.09).toFixed(1)} ${(-w * 0.01).toFixed(1)} ${(-h * 0.19).toFixed(1)} ${(-w * 0.13).toFixed(1)} ${(-h * 0.19).toFixed(1)}z" fill="${hair}"/>
<rect x="${w * 0.465}" y="${h * 0.2}" width="${w * 0.07}" height="${h * 0.09}" rx="${w * 0.02}" fill="${skin}"/><path d="M${at(0.33, 0.305)}Q${at(0.42, 0.262)} ${at(0.5, 0.268)}Q${at(0.58, 0.262)} ${at(0.67, 0.305)}L${at(0.62, 0.36)}H${(w * 0.38).toFixed(1)}z" fill="${skin}"/>
<path d="M${at(0.36, 0.29)}Q${at(0.5, 0.33)} ${at(0.64, 0.29)}L${at(0.62, 0.45)}L${at(0.66, 0.72)}H${(w * 0.34).toFixed(1)}L${at(0.38, 0.45)}z" fill="#e9e6e1"/>
<ellipse cx="${w * 0.5}" cy="${h * 0.155}" rx="${w * 0.078}" ry="${h * 0.075}" fill="${skin}"/><path d="M${at(0.42, 0.15)}Q${at(0.44, 0.075)} ${at(0.52, 0.085)}Q${at(0.585, 0.09)} ${at(0.582, 0.155)}Q${at(0.54, 0.11)} ${at(0.42, 0.15)}z" fill="${hair}"/></g>`;
}

/** The outline that the product is cut to on the figure: shoulders, waist, hem. */
export function garmentMask(canvas: Canvas): string {
  const { widthPx: w, heightPx: h } = canvas;
  return svg(
    canvas,
    `<path d="M${w * 0.16} ${h * 0.05}Q${w * 0.5} ${h * 0.16} ${w * 0.84} ${h * 0.05}L${w * 0.96} ${h * 0.22}Q${w * 0.8} ${h * 0.42} ${w * 0.84} ${h * 0.55}L${w * 0.95} ${h * 0.96}Q${w * 0.5} ${h * 1.03} ${w * 0.05} ${h * 0.96}L${w * 0.16} ${h * 0.55}Q${w * 0.2} ${h * 0.42} ${w * 0.04} ${h * 0.22}z" fill="#fff"/>`,
  );
}

/** Hills and a sun, when there is nothing to compose from. */
export function landscape(canvas: Canvas, seed: number): string {
  const { widthPx: w, heightPx: h } = canvas;
  const tone = hue(seed);
  const hill = (top: number, turn: number, light: number): string =>
    `<path d="M0 ${h * top}Q${w * 0.25} ${h * (top - 0.12)} ${w * 0.5} ${h * top}T${w} ${h * (top - 0.04)}V${h}H0z" fill="hsl(${hue(seed, turn)} 42% ${light}%)"/>`;
  return `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="hsl(${tone} 60% 78%)"/><stop offset="1" stop-color="hsl(${hue(seed, 40)} 70% 90%)"/></linearGradient></defs><rect width="${w}" height="${h}" fill="url(#sky)"/>
<circle cx="${w * (0.25 + (seed % 50) / 100)}" cy="${h * 0.26}" r="${w * 0.09}" fill="#fff3c4"/>${hill(0.62, 90, 66)}${hill(0.72, 110, 54)}${hill(0.84, 130, 42)}`;
}
