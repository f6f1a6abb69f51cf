/**
 * The columns that every table shares, as data: which names they may carry, which Feishu field types fit, and what to say
 * when they do not. Numbers are Feishu's field types (facts: field types and value JSON).
 */
export const fieldType = {
  text: 1,
  number: 2,
  singleSelect: 3,
  multiSelect: 4,
  date: 5,
  checkbox: 7,
  person: 11,
  phone: 13,
  link: 15,
  attachment: 17,
  lookup: 19,
  formula: 20,
  location: 22,
  stage: 24,
  createdBy: 1003,
  modifiedBy: 1004,
  autoNumber: 1005,
} as const;

export const protocolColumns = {
  操作: {
    names: ['操作'],
    types: [fieldType.singleSelect, fieldType.text],
    required: true,
    written: true,
    wanted: '单选（或文本）',
  },
  状态: {
    names: ['状态'],
    types: [fieldType.singleSelect, fieldType.text],
    required: true,
    written: true,
    wanted: '单选（或文本）',
  },
  报错: { names: ['报错'], types: [fieldType.text], required: true, written: true, wanted: '文本' },
  成本: { names: ['成本(元)', '成本'], types: [fieldType.number], required: true, written: true, wanted: '数字' },
  进度: { names: ['进度'], types: [fieldType.text], required: false, written: true, wanted: '文本' },
  提示: { names: ['提示'], types: [fieldType.text], required: false, written: true, wanted: '文本' },
  打回意见: { names: ['打回意见'], types: [fieldType.text], required: false, written: false, wanted: '文本' },
  耗时: { names: ['耗时(秒)', '耗时'], types: [fieldType.number], required: false, written: true, wanted: '数字' },
  执行编号: { names: ['执行编号'], types: [fieldType.text], required: false, written: true, wanted: '文本' },
  提交人: {
    names: ['提交人'],
    types: [fieldType.person, fieldType.createdBy],
    required: false,
    written: false,
    wanted: '人员（或创建人）',
  },
} as const;

export type ProtocolColumn = keyof typeof protocolColumns;
export const protocolColumnKeys = [
  '操作',
  '状态',
  '报错',
  '成本',
  '进度',
  '提示',
  '打回意见',
  '耗时',
  '执行编号',
  '提交人',
] as const satisfies readonly ProtocolColumn[];

/** Types from which an input can be read; what computes or is chosen reads as text too. */
export const inputTypes = {
  attachment: [fieldType.attachment],
  text: [
    fieldType.text,
    fieldType.number,
    fieldType.singleSelect,
    fieldType.multiSelect,
    fieldType.phone,
    fieldType.link,
    fieldType.lookup,
    fieldType.formula,
    fieldType.location,
    fieldType.autoNumber,
  ],
  number: [fieldType.number, fieldType.text, fieldType.lookup, fieldType.formula, fieldType.autoNumber],
  select: [fieldType.singleSelect, fieldType.text, fieldType.lookup, fieldType.formula],
} as const;

/** Types that an artifact can be written to. */
export const artifactTypes = { attachment: [fieldType.attachment], text: [fieldType.text] } as const;

export const typeWords: Readonly<Record<number, string>> = {
  1: '文本',
  2: '数字',
  3: '单选',
  4: '多选',
  5: '日期',
  7: '复选框',
  11: '人员',
  13: '电话',
  15: '超链接',
  17: '附件',
  18: '单向关联',
  19: '查找引用',
  20: '公式',
  21: '双向关联',
  22: '地理位置',
  23: '群组',
  24: '流程',
  1001: '创建时间',
  1002: '最后更新时间',
  1003: '创建人',
  1004: '修改人',
  1005: '自动编号',
  3001: '按钮',
};
