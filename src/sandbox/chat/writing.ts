/**
 * The words of the sandbox's chat model: plausible, on the subject that the prompt names, and always the same for the same
 * prompt. It reads the prompt as a person would skim it: counts, the product's notes, the approved script.
 */
export interface Brief {
  /** What the text is about, in the prompt's own words. */
  readonly subject: string;
  readonly shots: number;
  readonly seconds: number;
  /** Pictures that the prompt says are attached. */
  readonly pictures: number;
  /** Whether it is about a person who wears the product. */
  readonly isWorn: boolean;
}

export function readBrief(prompt: string): Brief {
  const lines = prompt.match(/^\s*镜头\s*\d+[^：:\n]*[：:]\s*(?!景别与角度)\S/gm) ?? [];
  const counted = /(?:exactly|正好|共)\s*(\d+)\s*(?:个镜头|shots|页|slides|panels|items|条|个)/.exec(prompt);
  const seconds = /(?:合计|total(?:ling)?|共)\s*(\d+)\s*(?:秒|s\b|seconds)/.exec(prompt);
  const pictures = /(?:附图|图片)\s*共?\s*(\d+)\s*张/.exec(prompt);
  return {
    subject: subjectOf(prompt),
    shots: clamp(Number(counted?.[1] ?? (lines.length === 0 ? 5 : lines.length)), 1, 30),
    seconds: clamp(Number(seconds?.[1] ?? 10), 1, 60),
    pictures: clamp(Number(pictures?.[1] ?? 3), 1, 9),
    isWorn: /模特|wearing|\bmodel wear/i.test(prompt),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

const subjectMarks = [
  /本页是第 \d+ 页[：:]\s*(?:<标题>\s*)?([^\n<]{2,60})/,
  /<(?:产品说明|需求|主题|request)>\s*([^\n<]{2,80})/,
  /产品说明[^\n]*[：:]\s*\n?\s*([^\n<]{2,80})/,
  /(?:主题|需求|提取要求|要求)[^\n]*[：:]\s*\n?\s*([^\n<]{2,80})/,
  /(?:topic|subject|extracted)[^\n:]*:\s*\n?\s*([^\n<]{2,80})/i,
];

function subjectOf(prompt: string): string {
  for (const mark of subjectMarks) {
    const found = mark.exec(prompt)?.[1]?.trim();
    if (found !== undefined && found !== '') return found.slice(0, 60);
  }
  return '图中的产品';
}

/** A picture prompt in English, some 120 words. */
export function imagePrompt(): string {
  return (
    'Full-length photorealistic studio photograph of one adult East Asian model in her late twenties, shoulder-length black hair, ' +
    'natural makeup and a calm, friendly expression, standing in a relaxed three-quarter pose with one hand at her side, wearing ' +
    'the product exactly as shown in the reference pictures: the same silhouette and length, the same colours, the same print ' +
    'placement, the same fabric with its visible weave, seams and trims. The product is fully visible and unobstructed. Simple ' +
    'cream-coloured seamless background with a soft floor shadow, large diffused daylight from the left and a gentle fill from ' +
    'the right, eye-level camera, 85 mm lens look, full body framed with a little headroom, true-to-life skin texture, crisp ' +
    'focus on the garment, high resolution commercial catalogue quality.'
  );
}

export function keywords(subject: string): string {
  const words = subject
    .replace(/[^\w ,.-]+/g, ' ')
    .trim()
    .slice(0, 30);
  const ascii = /[a-z]/i.test(words) ? `, ${words}` : '';
  return [
    '{角色}：adult woman in her late twenties, oval face, shoulder-length straight black hair, fair warm skin, natural makeup, plain white sneakers',
    `{产品}：same product as in the reference picture${ascii}, identical colour, pattern, fabric, silhouette, seams and trims`,
  ].join('\n');
}

const shotIdeas = [
  '全景，平视。{角色}从画面左侧缓步走入，{产品}完整呈现；镜头缓慢横移跟随。',
  '中景，平视。{角色}停步转身面对镜头，{产品}正面清晰可见；镜头轻推。',
  '近景，略俯。{角色}抬手轻抚衣料，{产品}的材质与细节占满画面；固定机位。',
  '中近景，侧面。{角色}微微侧身，{产品}的侧面轮廓自然展开；镜头缓慢环绕。',
  '全景，平视。{角色}站定微笑，{产品}整体定格；镜头缓慢拉远收尾。',
  '特写，平视。{产品}的领口与走线清楚呈现，{角色}保持静止；镜头缓慢上摇。',
  '中景，背面。{角色}向前走两步，{产品}的背面完整可见；固定机位。',
  '近景，平视。{角色}回头看向镜头，{产品}的肩部线条清楚；镜头轻推。',
  '全景，略仰。{角色}原地轻转一圈，{产品}随动作自然摆动；固定机位。',
];

/** A script of so many shots whose seconds add up. */
export function script(brief: Brief): string {
  const whole = Math.max(1, Math.floor(brief.seconds / brief.shots));
  return Array.from({ length: brief.shots }, (_unused, index) => {
    const isLast = index === brief.shots - 1;
    const lengthS = isLast ? Math.max(1, brief.seconds - whole * (brief.shots - 1)) : whole;
    return `镜头${index + 1}（${lengthS}秒）：${shotIdeas[index % shotIdeas.length] ?? ''}`;
  }).join('\n');
}

const pictureIdeas = [
  'Wide shot at eye level. {角色} walks slowly into frame from the left with {产品} fully visible, plain cream studio background, soft daylight from the left.',
  'Medium shot at eye level. {角色} stops and turns to face the camera, {产品} seen clearly from the front, the same studio and the same soft daylight.',
  'Close shot from slightly above. {角色} touches the fabric with one hand, the texture and details of {产品} fill the frame, soft even light.',
  'Medium close shot from the side. {角色} turns a little, the side outline of {产品} is clearly visible against the plain cream background.',
  'Wide shot at eye level. {角色} stands still and smiles, {产品} is shown whole from head to toe, camera slightly farther away, soft floor shadow.',
];

/** One storyboard picture in English, for a line of the script. */
export function shotPicture(index: number): string {
  return pictureIdeas[index % pictureIdeas.length] ?? '';
}

/** Notes to be read aloud, some hundred characters. */
export function spokenNotes(subject: string): string {
  return `大家好，这一页我们讲“${subject}”。先说结论：方向已经清楚，接下来要把它做成可以执行的步骤。请先看屏幕上的几条要点，我会逐条说明为什么这样做、谁来做、什么时候能看到结果。有疑问的地方，我们在最后一起讨论。`;
}

/** A longer Chinese text with headings. */
export function article(subject: string): string {
  return [
    `# ${subject}`,
    '',
    `围绕“${subject}”，先说结论：把最重要的卖点放在第一句，用顾客听得懂的话讲清它解决什么问题，再给出可以验证的细节。`,
    '',
    '## 为什么值得关注',
    '日常使用里，大家最在意的是舒适、耐看和省心。它在版型、用料和做工上都做了取舍：线条简洁，贴合日常场景；面料亲肤透气，打理简单；细节经得起近看。',
    '',
    '## 三个要点',
    '1. 一眼能懂：主图突出整体轮廓，第二张给到细节，第三张给到使用场景。',
    '2. 说人话：少用形容词，多用尺寸、材质、场景这类具体信息。',
    '3. 给理由：每个卖点后面跟一句为什么，让读者自己得出结论。',
    '',
    '## 结语',
    '如果只记住一件事：真实、具体、克制，比华丽的辞藻更能打动人。欢迎结合自己的需要选择，也欢迎提出意见。',
  ].join('\n');
}

/** An order for an image model that keeps what is there: no person, no garment. */
export function retouchPrompt(): string {
  return (
    'Keep the whole composition, the subject and its proportions exactly as they are in the attached picture. Brighten the ' +
    'exposure by about one stop, neutralise the colour cast, lift the shadows gently, remove dust and small blemishes, keep ' +
    'natural texture and crisp edges, add nothing and remove nothing else, clean commercial finish.'
  );
}

/** Printed artwork, described for extraction. */
export function motifPrompt(): string {
  return (
    'A round emblem in the centre: a warm yellow sun disc behind a stylised orange fox head with white cheeks and pointed ears, ' +
    'two rounded hills in burnt orange below, flat solid fills, crisp even edges, symmetric about the vertical axis, no texture, ' +
    'no lettering.'
  );
}

/** Statements for slides, rules and findings; each whole, none alike. */
export const statements: readonly string[] = [
  '先给结论，再给依据，让读者三秒内知道该做什么。',
  '把资源集中在最能见效的一两件事上，其余的先停。',
  '用可以核对的细节说话，少用形容词。',
  '每一步都有负责人和完成时间，到期复盘。',
  '先小范围试行，看到效果再扩大。',
  '把常见问题写进说明，减少来回确认。',
];

export const advice: readonly string[] = [
  '主按钮与背景的对比度不足，把底色加深到文字对比度 4.5:1 以上。',
  '同级卡片的间距不一致，统一为 8 像素的倍数。',
  '标题与正文的字号差距太小，标题用 20 像素、正文用 14 像素。',
];

/** Parts of a screen: name, kind, place. */
export const screenParts: readonly Readonly<Record<'name' | 'kind' | 'place', string>>[] = [
  { name: '顶部导航', kind: '导航栏', place: '页面顶部' },
  { name: '商品卡片', kind: '卡片', place: '页面中部' },
  { name: '提交按钮', kind: '按钮', place: '页面底部' },
];
