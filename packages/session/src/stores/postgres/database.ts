import type { HoldfastError } from '@holdfast/core';
import { describeThrown, errorsOf } from '@holdfast/core/internal';

/**
 * A `Pool` of `pg`, or anything else with its `query`. Statements share no connection, so that a pooler may run each on another one.
 */
export interface PostgresDatabase {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly rowCount?: number | null }>;
}

export type Row = Readonly<Record<string, unknown>>;

/** Reasons of `log.database`. */
export type DatabaseReason =
  | 'unreachable'
  | 'credentials'
  | 'permission'
  | 'schema.missing'
  | 'schema.newer'
  | 'failed';

const failed = errorsOf<DatabaseReason>('log.database');

/** Runs a statement. @throws HoldfastError `log.database`. */
export async function run(
  database: PostgresDatabase,
  text: string,
  values: unknown[] = [],
): Promise<{ readonly rows: readonly Row[]; readonly count: number }> {
  try {
    // Without values the driver needs only one exchange.
    const { rows, rowCount } = await (values.length === 0 ? database.query(text) : database.query(text, values));
    // Of a driver that returns rows as objects.
    return { rows: rows as readonly Row[], count: rowCount ?? rows.length };
  } catch (cause) {
    throw toFailure(cause);
  }
}

/** True if the statement may have run, or may run when repeated: the connection failed, not the statement. */
export function isTransient({ reason }: HoldfastError): boolean {
  return reason === 'unreachable';
}

function toFailure(cause: unknown): HoldfastError {
  const state = sqlStateOf(cause);
  const said = describeThrown(cause);
  const data = state === undefined ? {} : { state };
  if (state === undefined || isConnectionState(state)) {
    return failed('unreachable', `The database cannot be reached: ${said}. Check that it runs, and its address.`, {
      data,
      cause,
    });
  }
  if (state.startsWith('28') || state === '3D000') {
    const message = `The database refused the connection: ${said}. Check the name of the database, the user and the password.`;
    return failed('credentials', message, { data, cause });
  }
  if (state === '42501' || state === '25006') {
    const message = `The database does not allow this: ${said}. A writer needs \`SELECT\`, \`INSERT\`, \`UPDATE\` and \`DELETE\` on the tables \`holdfast_*\`, on a server that takes writes.`;
    return failed('permission', message, { data, cause });
  }
  if (state === '42P01') {
    const message = `The database has no tables of Holdfast: ${said}. The first session that is opened for writing makes them.`;
    return failed('schema.missing', message, { data, cause });
  }
  return failed('failed', `The database could not run a statement: ${said} (SQLSTATE ${state}).`, { data, cause });
}

/** `have`: the version of the tables; `know`: the newest that this package knows. */
export function newerSchema(have: number, know: number): HoldfastError {
  return failed(
    'schema.newer',
    `The tables in the database have version ${have}, and this version of Holdfast knows up to ${know}; update \`@holdfast/session\` here.`,
    { data: { have, know } },
  );
}

function sqlStateOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined;
  const { code } = cause;
  // Errors of the network have codes like `ECONNRESET` or `EPIPE`.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined;
}

/** Connection failures, a server that shuts down or starts, too many connections, and statements to repeat. */
function isConnectionState(state: string): boolean {
  return /^08|^57P0[1-5]$|^53300$|^40001$|^40P01$/.test(state);
}
