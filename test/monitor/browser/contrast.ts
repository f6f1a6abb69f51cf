/** Texts whose colour has less than 4.5 to 1 (3 to 1 when large) against the nearest ground. */
export function poorContrast(): string[] {
  const rgb = (color: string): number[] => (/[\d.]+/g[Symbol.match](color) ?? []).map(Number);
  const light = ([red = 0, green = 0, blue = 0]: number[]): number => {
    const part = (value: number): number =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  };
  const ground = (element: Element | null): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || (color[3] ?? 0) === 1) return color;
    }
    return [255, 255, 255];
  };
  const poor: string[] = [];
  const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element === null || (node.textContent ?? '').trim() === '' || element.closest('.hidden, svg') !== null)
      continue;
    const style = getComputedStyle(element);
    const [one, two] = [light(rgb(style.color)), light(ground(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const least = Number.parseFloat(style.fontSize) >= 18.6 ? 3 : 4.5;
    if (ratio < least) poor.push(`${(node.textContent ?? '').trim().slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return poor;
}
