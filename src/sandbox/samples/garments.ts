const stage = (inner: string, back: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 900"><rect width="720" height="900" fill="${back}"/>
<ellipse cx="360" cy="842" rx="220" ry="22" fill="#000" opacity=".08"/>${inner}</svg>`;

const hanger =
  '<path d="M360 96c-22 0-34-16-34-32s14-30 34-30 34 14 34 30c0 20-20 24-28 34" fill="none" stroke="#8d8577" stroke-width="7" stroke-linecap="round"/><path d="M360 98L214 178h292z" fill="none" stroke="#8d8577" stroke-width="9" stroke-linejoin="round"/>';

const flower = (x: number, y: number, size: number, petal: string): string =>
  `<g transform="translate(${x} ${y}) scale(${size})">${[0, 72, 144, 216, 288]
    .map((turn) => `<ellipse cx="0" cy="-13" rx="8" ry="13" fill="${petal}" transform="rotate(${turn})"/>`)
    .join('')}<circle r="6" fill="#f2b84b"/></g>`;

const dressShape =
  'M268 170c26 26 60 34 92 34s66-8 92-34l40 18-22 120c-6 34-12 60-6 92l74 396c-52 30-116 44-178 44s-126-14-178-44l74-396c6-32 0-58-6-92l-22-120z';

/** A red summer dress with flowers. */
const dress = stage(
  `${hanger}<clipPath id="d"><path d="${dressShape}"/></clipPath><path d="${dressShape}" fill="#c9433f"/>
<g clip-path="url(#d)">${Array.from({ length: 34 }, (_unused, index) =>
    flower(
      170 + ((index * 137) % 390),
      230 + ((index * 89) % 600),
      0.9 + (index % 3) * 0.25,
      index % 2 === 0 ? '#fff3e6' : '#f7c9b6',
    ),
  ).join(
    '',
  )}<path d="M232 388c80 22 176 22 256 0v30c-80 22-176 22-256 0z" fill="#8f2926"/><path d="M360 420v430" stroke="#000" stroke-opacity=".07" stroke-width="26"/></g>
<path d="M268 170c26 26 60 34 92 34s66-8 92-34" fill="none" stroke="#8f2926" stroke-width="9"/>`,
  '#f4efe7',
);

const teeShape =
  'M250 176c30 34 66 46 110 46s80-12 110-46l128 64-54 142-66-22v448c-70 22-166 22-236 0V360l-66 22-54-142z';

/** A deep green T-shirt with a printed fox: sun, hills and tail, for pattern extraction too. */
const tee = stage(
  `<path d="${teeShape}" fill="#2f5d50"/><path d="M250 176c30 34 66 46 110 46s80-12 110-46l-14-8c-28 26-58 36-96 36s-68-10-96-36z" fill="#234a40"/>
<g transform="translate(360 470)"><circle r="118" fill="#f6d58a"/><path d="M-118 30c40-44 74-44 112-6 40-46 84-40 124-2-6 60-60 96-118 96S-110 90-118 30z" fill="#d9885b"/>
<path d="M-46 20l-16-74 44 30h36l44-30-16 74-46 50z" fill="#e4572e"/><path d="M-46 20l46 50 46-50-26-10-20 26-20-26z" fill="#fff4e3"/><circle cx="-16" cy="0" r="6" fill="#222"/><circle cx="16" cy="0" r="6" fill="#222"/><circle cy="58" r="7" fill="#222"/></g>`,
  '#edf1f0',
);

/** A blue denim jacket. */
const jacket = stage(
  `${hanger}<path d="M262 168l98 40 98-40 118 62 40 470-92 12-34-330v420c-60 16-200 16-260 0V382l-34 330-92-12 40-470z" fill="#4a6fa5"/>
<path d="M262 168l98 40-60 92zM458 168l-98 40 60 92z" fill="#3a5a8a"/><path d="M360 208v608" stroke="#2f4a72" stroke-width="8"/>
<g fill="none" stroke="#d9a441" stroke-width="5" stroke-dasharray="14 8"><path d="M262 320h84v110h-84zM374 320h84v110h-84zM230 770h260"/></g>
<g fill="#c98b2b">${[280, 380, 480, 580, 680, 770].map((y) => `<circle cx="378" cy="${y}" r="8"/>`).join('')}</g>
<path d="M262 360l42 26 42-26M374 360l42 26 42-26" fill="none" stroke="#2f4a72" stroke-width="5"/>`,
  '#f1f0ec',
);

/** A tan leather handbag. */
const handbag = stage(
  `<path d="M250 380c0-150 40-230 110-230s110 80 110 230" fill="none" stroke="#8a5a34" stroke-width="22"/>
<path d="M150 370h420l44 400c4 40-20 62-60 62H166c-40 0-64-22-60-62z" fill="#b9783f"/><path d="M150 370h420l14 130c-150 66-298 66-448 0z" fill="#a5672f"/>
<rect x="324" y="500" width="72" height="92" rx="14" fill="#e5c46b"/><circle cx="360" cy="546" r="15" fill="#8a5a34"/>
<path d="M136 500c150 66 298 66 448 0M124 800h472" fill="none" stroke="#f0d5b0" stroke-width="4" stroke-dasharray="12 9"/>`,
  '#f3ece4',
);

/** A white and blue trainer. */
const sneaker = stage(
  `<path d="M112 500c40 10 90-10 128-70 60 20 90 70 150 112 60 40 150 40 200 74 26 18 36 46 34 84H104c-16-60-18-140 8-200z" fill="#fbfbfd" stroke="#cfd6e2" stroke-width="6"/>
<path d="M96 690h536c8 40-6 62-44 62H140c-34 0-50-24-44-62z" fill="#3d7bd9"/><path d="M240 430l-70 120 60 140h120z" fill="#dbe7fb"/>
<g stroke="#3d7bd9" stroke-width="11" stroke-linecap="round"><path d="M292 490l-40 44M336 522l-42 46M380 552l-42 48"/></g><path d="M420 690c20-60 80-76 150-70" fill="none" stroke="#3d7bd9" stroke-width="14"/>`,
  '#eef2f7',
);

/** A mug on a table: for retouching. */
const mug = stage(
  `<rect y="640" width="720" height="260" fill="#c8a983"/><rect y="640" width="720" height="14" fill="#b08f68"/><path d="M210 330h260v330c0 50-30 70-130 70s-130-20-130-70z" fill="#e8e2d6"/>
<ellipse cx="340" cy="330" rx="130" ry="30" fill="#5d3f2c"/><path d="M470 400c90-10 96 170-6 180" fill="none" stroke="#e8e2d6" stroke-width="30"/><path d="M250 470c60 40 120 40 180 0" fill="none" stroke="#8c6d52" stroke-width="10"/>
<path d="M290 250c-20-40 26-50 8-96M370 250c-20-40 26-50 8-96" fill="none" stroke="#fff" stroke-width="9" opacity=".8"/>`,
  '#d8c9b4',
);

export const garments = { dress, tee, jacket, handbag, sneaker, mug };
