import { Hono } from 'hono';
import { type JsonObject, jsonObjectOf, microsPerUnit, TransportError } from '../kernel/index.ts';
import { createMemoryBlobs } from './blobs.ts';
import { type Books, sumBill } from './books.ts';
import { createFaultBook } from './faults.ts';
import { addAuthApi } from './feishu/auth-api.ts';
import { findBase } from './feishu/base-book.ts';
import { createFeishuGate, type FeishuGate } from './feishu/gate.ts';
import { createLongConnectionDoor } from './feishu/long-connection.ts';
import { addMediaUploadApi } from './feishu/media-api.ts';
import { addMediaDownloadApi } from './feishu/media-download-api.ts';
import { addMiscApi } from './feishu/misc-api.ts';
import { addRecordsApi } from './feishu/records-api.ts';
import { addSearchApi } from './feishu/search-api.ts';
import { addTablesApi } from './feishu/tables-api.ts';
import { demoLatencies } from './latency.ts';
import type { PlatformDoor, Sandbox, SandboxOptions } from './options.ts';
import { addPageApi } from './page/page-api.ts';
import { createSharpPainter } from './painter/sharp-painter.ts';
import { seedWorld } from './seed-world.ts';
import { emptyWorld, worldStateSchema } from './state.ts';
import { createTableDoor } from './table-door.ts';
import { addArkApi } from './vendors/ark.ts';
import { addBochaApi } from './vendors/bocha.ts';
import { addChatApi } from './vendors/chat.ts';
import { addDashscopeApi } from './vendors/dashscope.ts';
import { addFilesApi } from './vendors/files-api.ts';
import { addKieApi } from './vendors/kie.ts';
import { addKieLinks, addKieUpload } from './vendors/kie-files.ts';
import { addKieVeoApi } from './vendors/kie-veo.ts';
import { addHeartbeatApi, addPushplusApi } from './vendors/pushplus.ts';
import { createAllowance } from './vendors/shared.ts';
import { createTaskDesk, taskBill, verdictOf, fileUrl } from './vendors/tasks.ts';
import { addToapisApi } from './vendors/toapis.ts';
import { staffFallback, type World } from './world.ts';

/** The default base and the app's credentials: what `sandboxEnvironment` tells the worker. */
export const sandboxAppToken = 'basGridloomSandbox0000001';
export const sandboxCredentials = { appId: 'cli_5a9db0c05a9db0c0', appSecret: 'sandbox-secret' } as const;

const tokenLifeMs = 2 * 3_600_000;

function createWorld(options: SandboxOptions): World {
  const { baseUrl } = options;
  return {
    app: new Hono(),
    clock: options.clock,
    random: options.random,
    baseUrl: typeof baseUrl === 'string' ? () => baseUrl : baseUrl,
    blobs: options.blobs ?? createMemoryBlobs(),
    painter: options.painter ?? createSharpPainter(),
    faults: createFaultBook(options.random),
    controls: {
      latencies: options.latencies ?? demoLatencies,
      errorForm: '200',
      quotaLeft: undefined,
      enforceRates: true,
      searchLagMs: 0,
      tokenLifeMs,
    },
    journal: { cellWrites: [], messages: [], pushes: [], calls: {} },
    people: options.people ?? [staffFallback],
    credentials: sandboxCredentials,
    keys: options.keys ?? {},
    locks: new Set(),
    state: emptyWorld(),
    changeListeners: new Set(),
  };
}

/** Builds the outside world: Feishu, the vendors, the chat models, pushplus, their files. Nothing of it listens on a socket. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const world = createWorld(options);
  const appToken = options.appToken ?? sandboxAppToken;
  const gate = createFeishuGate(world);
  addAuthApi(world, gate);
  addMiscApi(world, gate);
  addTablesApi(world, gate);
  addSearchApi(world, gate);
  addRecordsApi(world, gate);
  addMediaUploadApi(world, gate);
  addMediaDownloadApi(world, gate);
  addVendors(world);
  addPageApi(world, appToken);
  const { onChange } = options;
  return {
    fetch: async (request) => {
      const response = await answer(world, request);
      if (onChange !== undefined && mayChange(request)) onChange();
      return response;
    },
    baseUrl: world.baseUrl,
    appToken,
    books: createBooks(world),
    faults: world.faults,
    controls: world.controls,
    table: createTableDoor(world, appToken),
    longConnection: createLongConnectionDoor(world),
    platform: createPlatformDoor(world, gate, appToken),
    snapshot: () => snapshot(world),
    restore: (value) => {
      world.state = worldStateSchema.parse(value);
    },
    seed: () => seedWorld(world, { appToken, tables: options.tables }),
  };
}

function addVendors(world: World): void {
  const desk = createTaskDesk(world);
  addFilesApi(world);
  const allow = createAllowance(world, 20, 10_000);
  addKieApi(world, desk, allow);
  addKieVeoApi(world, desk, allow);
  addKieLinks(world);
  addKieUpload(world);
  addToapisApi(world, desk);
  addArkApi(world, desk);
  addDashscopeApi(world, desk);
  addBochaApi(world);
  addChatApi(world);
  addPushplusApi(world);
  addHeartbeatApi(world);
  world.app.notFound(() => new Response('404 page not found', { status: 404 }));
  world.app.onError((error) => {
    if (error instanceof TransportError) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return new Response(`sandbox error: ${error.message}${cause}`, { status: 500 });
  });
}

/** Reads that surely leave the world as it was: a waiting page and an idle worker must not cause endless saving. */
function mayChange(request: Request): boolean {
  const { pathname } = new URL(request.url);
  if (/\/(search|batch_get|tenant_access_token\/internal)$/.test(pathname)) return false;
  return request.method !== 'GET' || /^\/(kie|toapis|ark|dashscope)\//.test(pathname);
}

async function answer(world: World, request: Request): Promise<Response> {
  return world.app.fetch(request);
}

function snapshot(world: World): JsonObject {
  return jsonObjectOf(world.state);
}

function createBooks(world: World): Books {
  const bill: Books['bill'] = () => {
    const nowMs = world.clock.nowMs();
    return [...Object.values(world.state.tasks).flatMap((task) => taskBill(task, nowMs)), ...world.state.chatBill];
  };
  return {
    acceptedTasks: () =>
      Object.values(world.state.tasks).map((task) => ({
        vendor: task.vendor,
        dialect: task.dialect,
        taskId: task.taskId,
        ...(task.clientId === undefined ? {} : { clientId: task.clientId }),
        model: task.model,
        request: task.request,
        acceptedAtMs: task.acceptedAtMs,
        state: verdictOf(task, world.clock.nowMs()),
        resultUrls: (task.files ?? []).map((id) => fileUrl(world, id)),
        resultHashes: (task.files ?? []).flatMap((id) => world.state.files[id]?.hash ?? []),
      })),
    bill,
    billTotals: () => sumBill(bill()),
    cellWrites: () => world.journal.cellWrites,
    messages: () => world.journal.messages,
    pushes: () => world.journal.pushes,
    calls: () => world.journal.calls,
    trim: () => {
      Object.assign(world.journal, { cellWrites: [], messages: [], pushes: [], calls: {} });
    },
  };
}

function createPlatformDoor(world: World, gate: FeishuGate, defaultToken: string): PlatformDoor {
  return {
    expireTokens: () => {
      gate.expireTokens();
    },
    setAppRole: (role, appToken = defaultToken) => {
      findBase(world, appToken).appRole = role;
    },
    setAdvancedPermission: (on, appToken = defaultToken) => {
      findBase(world, appToken).advancedPermission = on;
    },
    hideColumn: (tableId, column, hidden) => {
      for (const base of Object.values(world.state.bases)) {
        const table = base.tables.find((candidate) => candidate.tableId === tableId);
        const field = table?.fields.find((candidate) => candidate.name === column);
        if (field !== undefined) field.hidden = hidden;
      }
    },
    setWikiToken: (wikiToken, appToken = defaultToken) => {
      findBase(world, appToken).wikiToken = wikiToken;
    },
    setFunds: (vendor, units) => {
      world.state.funds[vendor] = Math.round(units * microsPerUnit);
    },
    onRecordChanged: (listener) => {
      world.changeListeners.add(listener);
      return () => world.changeListeners.delete(listener);
    },
  };
}
