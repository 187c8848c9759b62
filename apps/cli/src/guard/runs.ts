import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { decisions, type Guard, type GuardedCall, type GuardReport } from '@holdfast/guard';
import type { Session } from '@holdfast/session';
import * as v from 'valibot';
import { hasCode } from '../terminal/system.ts';
import { type GuardHost, guardFolder, resolveLinks } from '../user/guard-folder.ts';
import { readText, writeText } from './files.ts';

/** How a command went that `holdfast guard run` has run. */
export interface ReportedRun {
  readonly words: readonly string[];
  /** Links resolved. */
  readonly folder: string;
  readonly exitCode: number;
  readonly startedAtMs: number;
}

const reportedRun: v.GenericSchema<ReportedRun> = v.object({
  words: v.array(v.string()),
  folder: v.string(),
  exitCode: v.number(),
  startedAtMs: v.number(),
});

const dayMs = 86_400_000;

function runsFolder(host: GuardHost): string {
  return join(guardFolder(host), 'runs');
}

/** Leaves the report of a run for the hook of the call that it belongs to. */
export async function reportRun(run: ReportedRun, host: GuardHost): Promise<void> {
  await writeText(join(runsFolder(host), `${randomUUID()}.json`), `${JSON.stringify(run)}\n`);
}

export interface RunPlace {
  readonly session: Session;
  /** Where the event says that the call ran. */
  readonly cwd: string;
  /** The worktree that `cwd` is in. A call keeps that of its start: its shell may end in another one. */
  readonly workspace: string;
  readonly host: GuardHost;
}

/**
 * A guard that knows from `holdfast guard run` whether a command succeeded, where the agent does not say. The report has to be of the very
 * command, in the same folder, begun after the call was decided; it counts once.
 */
export function withReportedRuns(guard: Guard, place: RunPlace): Guard {
  return {
    // A folder that is reached by a link is the same one.
    before: ({ cwd = place.cwd, ...call }) =>
      guard.before({ workspace: place.workspace, ...call, cwd: resolveLinks(cwd) }),
    after: async (call, report) =>
      guard.after(call, report.ok === 'unknown' ? ((await findReport(call, report, place)) ?? report) : report),
    prompt: (request) => guard.prompt(request),
    end: () => guard.end(),
  };
}

async function findReport(
  call: Parameters<Guard['after']>[0],
  report: GuardReport,
  { session, cwd, host }: RunPlace,
): Promise<GuardReport | undefined> {
  const words = readReportedWords(call);
  const { id, subAgentId } = call;
  const key = id === undefined || subAgentId === undefined ? id : `${subAgentId}/${id}`;
  const decided = key === undefined ? undefined : session.read(decisions).get(key);
  if (words === undefined || decided === undefined) return undefined;
  const folder = resolveLinks(cwd);
  const runs = (await readRuns(host)).filter((run) => run.folder === folder && run.words.join(' ') === words);
  const own = runs.filter(({ startedAtMs }) => startedAtMs >= decided.atMs);
  const last = own.toSorted((left, right) => left.startedAtMs - right.startedAtMs).at(-1);
  await Promise.all(own.map(({ path }) => rm(path, { force: true })));
  if (last === undefined) return undefined;
  const { exitCode } = last;
  return exitCode === 0 ? { ...report, ok: true } : { ...report, ok: false, message: `exit code ${exitCode}` };
}

/** The command alone on its line and without anything for the shell to read; of other lines the exit code says nothing. */
const alone = /^(?:npx )?holdfast guard run -- ([\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*)$/;

function readReportedWords({ input }: Pick<GuardedCall, 'input'>): string | undefined {
  const command = isPlainObject(input) ? input['command'] : undefined;
  return typeof command === 'string' ? alone.exec(command)?.[1] : undefined;
}

async function readRuns(host: GuardHost): Promise<readonly (ReportedRun & { readonly path: string })[]> {
  const folder = runsFolder(host);
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  });
  const runs: (ReportedRun & { readonly path: string })[] = [];
  for (const name of names.filter((file) => file.endsWith('.json'))) {
    const path = join(folder, name);
    const parsed = parseJson((await readText(path)) ?? '');
    const read = v.safeParse(reportedRun, parsed.ok ? parsed.value : null);
    if (read.success && Date.now() - read.output.startedAtMs < dayMs) runs.push({ ...read.output, path });
    else await rm(path, { force: true });
  }
  return runs;
}
