import type { Client, ClientConfig, Pool } from 'pg';
import { StorageError } from '../../engine/ports/index.ts';
import type { Logger } from '../../kernel/index.ts';

export interface ConnectOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString: string;
  /** Schema that holds our tables. Default `gridloom`. */
  readonly schema?: string;
  readonly logger: Logger;
}

const defaultSchema = 'gridloom';
/** A machine that died whole is noticed after about 15 s of silence. */
const keepAliveDelayMs = 10_000;
const connectTimeoutMs = 10_000;

/** `pg` is loaded here and below only, when a database is configured. */
export async function createPool(options: ConnectOptions, max: number): Promise<Pool> {
  const { Pool } = (await import('pg')).default;
  const pool = new Pool({ ...clientConfig(options), max, idleTimeoutMillis: 30_000 });
  pool.on('error', (error) => options.logger.warn('an idle database connection was lost', { error: error.message }));
  return pool;
}

/** A connection of its own: for a session's locks, or to listen. */
export async function connectClient(options: ConnectOptions): Promise<Client> {
  const { Client } = (await import('pg')).default;
  const client = new Client(clientConfig(options));
  // Without a listener an error of an idle connection would end the process; `end` tells its owner.
  client.on('error', (error) => options.logger.warn('a database connection was lost', { error: error.message }));
  await client.connect();
  return client;
}

function clientConfig(options: ConnectOptions): ClientConfig {
  const schema = options.schema ?? defaultSchema;
  return {
    connectionString: options.connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    application_name: 'gridloom',
    options: `-c search_path=${schema} -c synchronous_commit=on -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=2`,
  };
}

export function schemaOf(options: ConnectOptions): string {
  const schema = options.schema ?? defaultSchema;
  if (!/^[a-z_][a-z0-9_]*$/.test(schema)) throw new StorageError(`"${schema}" is not a schema name`);
  return schema;
}

/** SQLSTATE, or the socket's code. */
export function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/** A statement that this program got wrong, as against a database that is away. */
export function isStatementFault(error: unknown): boolean {
  return /^(22|23|42)/.test(codeOf(error));
}

export function asStorageError(error: unknown, what: string): Error {
  if (error instanceof StorageError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isStatementFault(error)) return new Error(`${what}: ${reason}`, { cause: error });
  return new StorageError(`${what}: ${reason} (${codeOf(error)})`, { cause: error });
}
