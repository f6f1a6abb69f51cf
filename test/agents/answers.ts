/** Answers of a well-behaved language model, by the prompt's name; tests bend them. */
export const json = (value: unknown): string => JSON.stringify(value);

export const motif = json({
  has_motif: true,
  motif_prompt:
    'A round emblem: a solid dark red ring around a pure white disc, perfectly centred, crisp even edges, flat ink, no texture.',
  ground: 'pure white',
  description: '圆环徽章图案，深红色实心圆环，中间留白。',
});

export const analysis = (changes: Record<string, unknown> = {}): string =>
  json({
    clear: true,
    question: '',
    plan: '整体提亮一档，保持人物与背景不变。',
    prompt: 'Brighten the whole picture by about one stop, keep identity, framing, product and background unchanged.',
    ratio: '3:4',
    ...changes,
  });

export const intent = (changes: Record<string, unknown> = {}): string =>
  json({
    clear: true,
    question: '',
    kind: '种草笔记',
    audience: '通勤女性',
    words: 300,
    query: '真丝衬衫 面料 洗护',
    ...changes,
  });

export const context =
  '读者与场景：通勤女性，周一早上。语气与人称：第二人称，轻松。结构与篇幅：三段。必须出现的信息：真丝、可机洗。不要写的：绝对化用语与未经证实的功效，夸大的承诺。';
export const fusion =
  '[[OUTLINE]]\n1. 开场场景：周一早高峰的衬衫烦恼\n2. 面料与洗护：真丝、可机洗\n3. 搭配建议与收尾\n[[/OUTLINE]]\n[[FACTS]]\n- 面料为桑蚕丝［1］\n[[/FACTS]]';
export const draft =
  '周一早上，一件不用熨的真丝衬衫能省下十分钟。它用的是桑蚕丝，可以放进洗衣袋机洗，晾干就能穿。配一条直筒裤，开会和下班都合适。';

export const structure = json({
  screen: '电商 App 首页',
  layout: '单列，左右 16px',
  components: [{ name: '搜索框', kind: '输入框', place: '顶部', note: '圆角 8' }],
});
export const advice = json({
  issues: [{ place: '主按钮', problem: '对比度不足', severity: '高' }],
  suggestions: [{ place: '主按钮', change: '底色加深到 #2F6FED', reason: '文字对比度达到 4.5:1' }],
});
export const designRules = json({
  colors: { primary: '#2F6FED', background: '#F5F6FA', surface: '#FFFFFF', text: '#1F2A44', muted: '#8A94A6' },
  spacing: [4, 8, 16],
  radius: [8],
  typography: [
    { role: '标题', size: 20, weight: 600, line_height: 28 },
    { role: '正文', size: 14, weight: 400, line_height: 22 },
  ],
  rules: ['间距取 4 的倍数', '主按钮一屏一个', '正文不小于 14px'],
});

export const outline = (count: number): string =>
  json({
    pages: Array.from({ length: count }, (_, index) => ({
      title: `结论 ${index + 1}`,
      points: ['要点甲', '要点乙', '要点丙'],
    })),
  });
export const page = (title: string): string =>
  json({ title, bullets: ['第一条完整的话。', '第二条完整的话。'], notes: '大家好，这一页讲结论。' });
export const good = json({ ok: true, reasons: [] });
export const bad = (reason: string): string => json({ ok: false, reasons: [reason] });
