/** Every variable that the program itself reads, besides those that `config/providers.yaml` and the agents name. */
const ownVariables = [
  'GRIDLOOM_MODE',
  'GRIDLOOM_DATA_DIR',
  'GRIDLOOM_MONITOR_DIR',
  'GRIDLOOM_INSTANCE',
  'GRIDLOOM_TIMEZONE',
  'NO_PROXY_FOR_API',
  'SB_CONFIRM',
  'DATABASE_URL',
] as const;

const platformVariables = [
  'FEISHU_APP_ID',
  'FEISHU_APP_SECRET',
  'FEISHU_BASE_URL',
  'BITABLE_APP_TOKEN',
  'ALERT_CHAT_ID',
  'PUSHPLUS_TOKEN',
  'PUSHPLUS_BASE_URL',
  'HEARTBEAT_URL',
] as const;

const tableVariables = [
  'TRY_ON_TABLE_ID',
  'ELEMENT_EXTRACTION_TABLE_ID',
  'PHOTO_STUDIO_TABLE_ID',
  'CONTENT_TABLE_ID',
  'SCREENSHOT_REVIEW_TABLE_ID',
  'DECK_TABLE_ID',
  'KNOWLEDGE_TABLE_ID',
] as const;

const vendorVariables = [
  'KIE_API_KEY',
  'KIE_BASE_URL',
  'KIE_UPLOAD_BASE_URL',
  ...['TOAPIS', 'ARK', 'DASHSCOPE'].flatMap((vendor) => [`${vendor}_API_KEY`, `${vendor}_BASE_URL`]),
  ...['PRIMARY', 'BACKUP', 'THIRD'].flatMap((rank) =>
    ['API_KEY', 'BASE_URL', 'MODEL'].map((end) => `LLM_${rank}_${end}`),
  ),
] as const;

/** The contract's variables; `extra` are those that configuration files name. */
export function knownVariables(extra: Iterable<string>): ReadonlySet<string> {
  return new Set([...ownVariables, ...platformVariables, ...tableVariables, ...vendorVariables, ...extra]);
}

/** Whether a variable addresses the world outside (platform, tables, vendors): a sandbox run takes those from the sandbox. */
export function isOutsideVariable(name: string, extra: ReadonlySet<string>): boolean {
  const own: readonly string[] = ownVariables;
  return !own.includes(name) && !name.startsWith('GRIDLOOM__') && knownVariables(extra).has(name);
}
