import type { Isolation } from '@holdfast/loader';
import type { LogEntry, LogRecord } from '@holdfast/session';
import * as v from 'valibot';
import { type ApprovalMode, isolationTiers } from '../settings/choices.ts';
import { type ConfigRecord, configRecord } from '../settings/config-record.ts';

/** What a run is given beside its request. Its log keeps it, so that the run can be gone on with. */
export interface RunTerms {
  /** Where relative paths in `model` and `tools` begin. */
  readonly directory: string;
  /** As `openModel` takes it. */
  readonly model: string;
  /** The folder of tool files; null: none. */
  readonly tools: string | null;
  /** Whether the folders in it are read, too. */
  readonly subfolders?: boolean | undefined;
  /** Whether there has to be a lock: it was asked for, or there was one when the run began. */
  readonly locked?: boolean | undefined;
  /** The weakest isolation that tools of the folder run in. Absent: what the loader takes. */
  readonly isolation?: Isolation | undefined;
  /** What of a configuration was in force. Absent: there was none. */
  readonly config?: ConfigRecord | undefined;
  readonly approval: ApprovalMode;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  /** Names of tools from first to last. */
  readonly order: readonly (readonly string[])[];
  readonly maxRounds?: number | undefined;
  /** Calls that are run, nested ones included. */
  readonly maxCalls?: number | undefined;
  /** Read and written, as the model reports them. */
  readonly maxTokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  /** Of a plan: how many of its nodes may run at once. */
  readonly maxConcurrency?: number | undefined;
  /** `false`: the log has secrets in clear. */
  readonly redact?: boolean | undefined;
}

const type = 'run-options';
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const positive = v.pipe(v.number(), v.gtValue(0));
const recorded: v.GenericSchema<unknown, RunTerms> = v.object({
  directory: v.string(),
  model: v.string(),
  tools: v.nullable(v.string()),
  subfolders: v.optional(v.boolean()),
  locked: v.optional(v.boolean()),
  isolation: v.optional(v.picklist(isolationTiers)),
  config: v.optional(configRecord),
  approval: v.picklist(['ask', 'yes', 'unattended', 'suspend']),
  allow: v.array(v.string()),
  order: v.array(v.array(v.string())),
  maxRounds: v.optional(count),
  maxCalls: v.optional(count),
  maxTokens: v.optional(count),
  timeoutMs: v.optional(positive),
  approvalTimeoutMs: v.optional(positive),
  maxConcurrency: v.optional(count),
  redact: v.optional(v.boolean()),
});

/** What is recorded before a run begins. */
export function toTermsRecord({ allow, order, ...terms }: RunTerms): LogEntry {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return { type, ...Object.fromEntries(given), allow: [...allow], order: order.map((names) => [...names]) };
}

/** What the run that `run` names was given; `undefined` when its log does not say, because another program made it. */
export function readTerms(records: Iterable<LogRecord>, run: number): RunTerms | undefined {
  let found: RunTerms | undefined;
  for (const record of records) {
    if (record.seq >= run) break;
    if (record.type !== type) continue;
    const parsed = v.safeParse(recorded, record);
    found = parsed.success ? parsed.output : undefined;
  }
  return found;
}
