import { checkToolName } from '@holdfast/core/internal';
import * as v from 'valibot';
import { type Kind, kinds } from './forms.ts';
import { type PlannedCalls, plannedSchema } from './planned.ts';

/** The kind of an argument; `from`: the fields of results that name such things, as `list_files.id`, where also a short id says which it is. */
export type Decides = Kind | { readonly kind: Kind; readonly from: readonly string[] };

/** The arguments of a tool that decide where its calls go, and the requests that call for it. */
export interface DecidingOptions {
  /** By argument, with dots between keys, the kind of its value. Items of lists count one by one. */
  readonly decides?: Readonly<Record<string, Decides>> | undefined;
  /** Words of requests that call for the tool; `delet*` stands for all that begin so. Default: the first word of the tool's name. */
  readonly words?: readonly string[] | undefined;
  /** True if the request must call for the tool at every level, as for deleting. Default false. */
  readonly requested?: boolean | undefined;
}

/** A field of results, with dots; or fields of a record whose other fields say that outsiders did not write them. */
export type TrustedField =
  | string
  | {
      readonly fields: readonly string[];
      /** By field of the same record, which outsiders cannot write, the values that it may have; `@corp.com` for its addresses. */
      readonly where: Readonly<Record<string, readonly string[]>>;
    };

/** The options of `provenance`. */
export interface ProvenanceOptions {
  /** `taint`, `values`, or `plan`, which is `values` and more. Default: the preset's. */
  readonly level?: 'taint' | 'values' | 'plan' | undefined;
  /** By tool. Default: arguments that are named like a recipient or an address, and the hosts and outside paths of the facts. */
  readonly tools?: Readonly<Record<string, DecidingOptions>> | undefined;
  /** By tool, the fields of its results that outsiders cannot write; `*` for all. Default: none. */
  readonly trusted?: Readonly<Record<string, readonly TrustedField[]>> | undefined;
  /**
   * A plan that was made from the request, before anything else was read: `toPlanned(await compilePlan(…))`. At the level `plan`, a change must be a
   * call of the plan; in place of `words`. Default: none.
   */
  readonly planned?: PlannedCalls | undefined;
  /** Values that you vouch for: `me@corp.com`, `@corp.com` for its addresses, `*.corp.com` for its hosts. */
  readonly known?: readonly string[] | undefined;
  /** Tools that only read, although they do not declare it. Default: those with effects `none`. */
  readonly reads?: readonly string[] | undefined;
  /** For `taint`: tools whose results are secret. Default: all. */
  readonly secrets?: readonly string[] | undefined;
  /** The decision about a value of unknown origin. Default `ask`. */
  readonly otherwise?: 'ask' | 'deny' | undefined;
  /** Key of the fingerprints in the state, at least 16 characters. Keep it beside the log. Default: none, so a guess can be tested. */
  readonly key?: string | undefined;
}

const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));
const tools = v.optional(v.pipe(v.array(toolName), v.maxLength(1_000)));
const path = v.pipe(
  v.string(),
  v.regex(/^[^.]{1,100}(?:\.[^.]{1,100}){0,9}$/, 'must name a field, with dots between names'),
);
const words = v.pipe(v.array(v.pipe(v.string(), v.regex(/^[^*]{2,60}\*?$/u))), v.maxLength(200));

const kind = v.picklist(kinds);
const field = v.pipe(
  v.string(),
  v.check((name) => isToolName(name.split('.', 1)[0] ?? '') && name.includes('.'), 'must name a tool and a field'),
);
const trustedFields = v.array(
  v.union([
    path,
    v.strictObject({
      fields: v.pipe(v.array(path), v.minLength(1)),
      where: v.pipe(
        v.record(path, v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1))),
        v.check((where) => Object.keys(where).length > 0, 'must name a field'),
      ),
    }),
  ]),
);

export const configSchema: v.GenericSchema<ProvenanceOptions> = v.strictObject({
  level: v.optional(v.picklist(['taint', 'values', 'plan'])),
  tools: v.optional(
    v.record(
      toolName,
      v.strictObject({
        decides: v.optional(v.record(path, v.union([kind, v.strictObject({ kind, from: v.array(field) })]))),
        words: v.optional(words),
        requested: v.optional(v.boolean()),
      }),
    ),
  ),
  trusted: v.optional(v.record(toolName, trustedFields)),
  known: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(3), v.maxLength(500))), v.maxLength(10_000))),
  planned: v.optional(plannedSchema),
  reads: tools,
  secrets: tools,
  otherwise: v.optional(v.picklist(['ask', 'deny'])),
  key: v.optional(v.pipe(v.string(), v.minLength(16), v.maxLength(1_000))),
});

/** The tools that the options name: each must exist. */
export function namedTools(options: ProvenanceOptions): readonly string[] {
  const { tools: configured = {}, trusted = {}, planned, reads = [], secrets = [] } = options;
  const sources = Object.values(configured).flatMap(({ decides = {} }) =>
    Object.values(decides).flatMap((each) => (typeof each === 'string' ? [] : each.from)),
  );
  return [
    ...sources.map((source) => source.slice(0, source.indexOf('.'))),
    ...Object.keys(configured),
    ...Object.keys(trusted),
    ...(planned?.plan.nodes ?? []).map(({ tool }) => tool),
    ...reads,
    ...secrets,
  ];
}

/** The trusted fields of a tool's results. */
export function trustedOf({ trusted = {} }: ProvenanceOptions, name: string): readonly TrustedField[] {
  return (Object.hasOwn(trusted, name) ? trusted[name] : undefined) ?? [];
}

function isToolName(name: string): boolean {
  try {
    checkToolName(name);
    return true;
  } catch {
    // The caller reports the problem with its position in the options.
    return false;
  }
}
