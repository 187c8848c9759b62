import type { Isolation } from '@holdfast/loader';
import type { LogEntry, LogRecord } from '@holdfast/session';
import * as v from 'valibot';
import { type ApprovalMode, isolationTiers } from '../settings/choices.ts';
import { type ConfigRecord, configRecord } from '../settings/config-record.ts';

/** The options of a run besides its request, recorded in its log so that it can be resumed. */
export interface RunTerms {
  /** The base of relative paths in `model` and `tools`. */
  readonly directory: string;
  /** A name for `openModel`. */
  readonly model: string;
  /** The folder of tool files; null: none. */
  readonly tools: string | null;
  /** True if subfolders are read. */
  readonly subfolders?: boolean | undefined;
  /** True if a lock is required: by option, or because there was one when the run started. */
  readonly locked?: boolean | undefined;
  /** The minimum isolation of tool files. Default: the loader's. */
  readonly isolation?: Isolation | undefined;
  /** The effective configuration. Absent: none. */
  readonly config?: ConfigRecord | undefined;
  readonly approval: ApprovalMode;
  /** Dangerous tools that need no approval. */
  readonly allow: readonly string[];
  /** Orders of tool names, first to last. */
  readonly order: readonly (readonly string[])[];
  readonly maxRounds?: number | undefined;
  /** Including nested calls. */
  readonly maxCalls?: number | undefined;
  /** Input and output tokens, as reported by the model. */
  readonly maxTokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  /** For a plan: maximum number of parallel nodes. */
  readonly maxConcurrency?: number | undefined;
  /** `false`: the log contains secrets in plain text. */
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

/** The record of a run's options, written before the run. */
export function toTermsRecord({ allow, order, ...terms }: RunTerms): LogEntry {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return { type, ...Object.fromEntries(given), allow: [...allow], order: order.map((names) => [...names]) };
}

/** The options of the run `run`; `undefined` if its log has none, because another program made it. */
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
