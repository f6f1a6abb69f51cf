import { sandboxAppToken, sandboxCredentials } from './sandbox.ts';

/** The environment that points a worker at a sandbox; table ids come from the tables that the app passed. */
export function sandboxEnvironment(
  baseUrl: string,
  tableIds: Readonly<Record<string, string>>,
  appToken: string = sandboxAppToken,
): Record<string, string> {
  return {
    FEISHU_APP_ID: sandboxCredentials.appId,
    FEISHU_APP_SECRET: sandboxCredentials.appSecret,
    FEISHU_BASE_URL: `${baseUrl}/feishu`,
    BITABLE_APP_TOKEN: appToken,
    ...tableIds,
    ALERT_CHAT_ID: 'oc_sandbox_alerts',
    KIE_API_KEY: 'sandbox-kie-key',
    KIE_BASE_URL: `${baseUrl}/kie`,
    KIE_UPLOAD_BASE_URL: `${baseUrl}/kie-upload`,
    TOAPIS_API_KEY: 'sk-sandbox-toapis',
    TOAPIS_BASE_URL: `${baseUrl}/toapis`,
    ARK_API_KEY: 'sandbox-ark-key',
    ARK_BASE_URL: `${baseUrl}/ark/api/v3`,
    DASHSCOPE_API_KEY: 'sk-sandbox-dashscope',
    DASHSCOPE_BASE_URL: `${baseUrl}/dashscope`,
    BOCHA_API_KEY: 'sk-sandbox-bocha',
    BOCHA_BASE_URL: `${baseUrl}/bocha`,
    LLM_PRIMARY_API_KEY: 'sk-sandbox-llm',
    LLM_PRIMARY_BASE_URL: `${baseUrl}/llm/v1`,
    LLM_PRIMARY_MODEL: 'sandbox-vision',
    LLM_BACKUP_API_KEY: 'sk-sandbox-llm-backup',
    LLM_BACKUP_BASE_URL: `${baseUrl}/llm-backup/v1`,
    LLM_BACKUP_MODEL: 'sandbox-vision-backup',
    LLM_THIRD_API_KEY: 'sk-sandbox-llm-third',
    LLM_THIRD_BASE_URL: `${baseUrl}/llm-third/v1`,
    LLM_THIRD_MODEL: 'sandbox-text-only',
    PUSHPLUS_TOKEN: 'sandbox-pushplus-token',
    PUSHPLUS_BASE_URL: `${baseUrl}/pushplus`,
    GRIDLOOM__TRANSFER__ALLOW_HOSTS: new URL(baseUrl).hostname,
  };
}
