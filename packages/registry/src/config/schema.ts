import { HoldfastError } from '@holdfast/core';
import {
  copyJson,
  findToolNameProblem,
  isPack,
  isPlainObject,
  isPlugin,
  nearestNames,
  toReason,
} from '@holdfast/core/internal';
import { allowRuleSchema, commandRulePattern, type FactRules, factRuleSchema } from '@holdfast/facts/rules';
import { describeIssues, type SchemaIssue } from '@holdfast/schema';
import * as v from 'valibot';
import { readEntryName } from '../resolve/names.ts';
import type { HoldfastConfig, WorkspaceConfig } from './config.ts';
import { copyConfig, showPath } from './copy.ts';

/**
 * Defines the configuration, the default export of `holdfast.config.ts`. Returns a frozen copy.
 *
 * @throws HoldfastError `config.invalid` with all problems, also in `data.problems`.
 */
export function defineConfig(config: HoldfastConfig): HoldfastConfig {
  return takeConfig(config, 'The configuration');
}

/** Like `defineConfig`; `what` names the configuration in the error. */
export function takeConfig(value: unknown, what: string): HoldfastConfig {
  const checked = checkHostConfig(value);
  if (checked.ok) return checked.config;
  throw invalidConfig(undefined, what, checked.problems);
}

const shownProblems = 20;

export function invalidConfig(
  reason: 'policy' | undefined,
  what: string,
  problems: readonly SchemaIssue[],
): HoldfastError {
  const more = problems.length > shownProblems ? `; and ${problems.length - shownProblems} more` : '';
  return new HoldfastError(
    'config.invalid',
    `${what} is invalid and was not used: ${describeIssues(problems.slice(0, shownProblems))}${more}.`,
    {
      data: {
        ...toReason({ reason }),
        problems: problems.slice(0, shownProblems).map(({ path, message }) => ({ path, message })),
      },
    },
  );
}

/** A usable copy, or all problems. */
export type CheckedConfig<Config> =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly SchemaIssue[] };

/** Checks the configuration of a host or command line. */
export function checkHostConfig(value: unknown): CheckedConfig<HoldfastConfig> {
  // A test keeps the schema in sync with the type.
  return check(value, hostSchema) as CheckedConfig<HoldfastConfig>;
}

/** Checks the configuration of a workspace. */
export function checkWorkspaceConfig(value: unknown): CheckedConfig<WorkspaceConfig> {
  return check(value, workspaceSchema) as CheckedConfig<WorkspaceConfig>;
}

/** The content of a `holdfast.policy.json` of the user. */
export type UserRules = FactRules & {
  readonly $schema?: string;
  /** Commands that count as checks before a release, besides the known ones. */
  readonly checks?: readonly string[];
  /** The guard keeps the files that a call may change, for `holdfast undo`. */
  readonly checkpoints?: boolean;
  /** Where guarded sessions are kept: a `postgres://` URL, or the absolute path of an SQLite file. */
  readonly store?: string;
};

/** Checks the rules of the user. */
export function checkUserRules(value: unknown): CheckedConfig<UserRules> {
  return check(value, userSchema) as CheckedConfig<UserRules>;
}

function check(value: unknown, schema: v.GenericSchema): CheckedConfig<unknown> {
  const copied = copyConfig(value);
  if (!copied.ok) return { ok: false, problems: [{ path: copied.path, message: copied.problem }] };
  const { issues = [] } = v.safeParse(schema, copied.value);
  if (issues.length === 0) return { ok: true, config: toGiven(copied.value) };
  const problems = issues.map(({ path = [], message }) => ({ path: showPath(path.map(({ key }) => key)), message }));
  return { ok: false, problems };
}

/** Frozen, except plugins and packs, which belong to their authors. Keys with the value `undefined` are dropped. */
function toGiven(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(toGiven));
  if (!isPlainObject(value) || isPlugin(value) || isPack(value)) return value;
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.freeze(Object.fromEntries(given.map(([key, inner]) => [key, toGiven(inner)])));
}

function mustBe(what: string): (issue: { readonly received: string }) => string {
  return ({ received }) => `must be ${what}, got ${received.slice(0, 100)}`;
}

function text(what: string, isRight: (value: string) => boolean): v.GenericSchema {
  return v.custom<string>((value) => typeof value === 'string' && isRight(value), mustBe(what));
}

/** An object with only these keys. Reports unknown keys together with all other problems; `refused` says why one is not taken. */
function closed(
  entries: v.ObjectEntries,
  what: string,
  refused: ReadonlyMap<string, string> = new Map(),
): v.GenericSchema {
  const keys = Object.keys(entries);
  const known = v.object(entries, 'is missing');
  return v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(isPlainObject, mustBe(what)),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const object = dataset.value;
      for (const { message, path } of v.safeParse(known, object).issues ?? [])
        addIssue({ message, ...(path === undefined ? {} : { path }) });
      for (const key of Object.keys(object).filter((one) => !keys.includes(one))) {
        const [nearest] = nearestNames(key, keys);
        const hint = nearest === undefined ? `known keys: ${keys.join(', ')}` : `did you mean \`${nearest}\`?`;
        addIssue({ message: refused.get(key) ?? `unknown key; ${hint}`, path: [toPathItem(object, key)] });
      }
    }),
  );
}

function toPathItem(input: Readonly<Record<string, unknown>>, key: string): v.ObjectPathItem {
  return { type: 'object', origin: 'value', input, key, value: input[key] };
}

function listOf(item: v.GenericSchema, what: string): v.GenericSchema {
  return v.optional(v.array(item, mustBe(what)));
}

/** A plugin or pack, its name, or an object with either and its settings. */
function useOf(thing: v.GenericSchema, use: v.GenericSchema): v.GenericSchema {
  return v.lazy((value) => (typeof value === 'string' || isPlugin(value) || isPack(value) ? thing : use));
}

const shortName = /^[a-z0-9][a-z0-9-]{0,31}$/;

const toolName = text(
  'a tool name: 1 to 64 characters of a-z, 0-9, _ and -, and not a reserved word',
  (name) => findToolNameProblem(name) === undefined,
);
const toolNames = listOf(toolName, 'a list of tool names');
const yesOrNo = v.optional(v.boolean(mustBe('true or false')));
const filled = v.optional(text('a non-empty string', (value) => value.trim() !== ''));
const count = v.optional(
  v.custom<number>((value) => Number.isSafeInteger(value) && Number(value) >= 1, mustBe('an integer of at least 1')),
);
const isolation = v.optional(
  v.picklist(
    ['in-process', 'worker', 'subprocess', 'sandbox'],
    mustBe('`in-process`, `worker`, `subprocess` or `sandbox`'),
  ),
);
const limits = v.optional(
  closed(
    { maxRounds: count, maxCalls: count, maxTokens: count, timeoutMs: count, approvalTimeoutMs: count },
    'an object of limits',
  ),
);
const options = v.optional(
  v.custom<object>((value) => isPlainObject(value) && copyJson(value).ok, mustBe('a JSON object')),
);

const pluginName = text(
  'a plugin, a package name or a path that starts with `./`, with `#export` if the module exports several',
  (name) => ['package', 'path'].includes(readEntryName(name)?.type ?? ''),
);
const plugin = v.lazy((value) => (isPlugin(value) ? v.any() : pluginName));
const pluginUse = closed(
  {
    plugin,
    // The registry checks the prefix.
    prefix: filled,
    config: options,
  },
  'a plugin, its name, or an object with either as `plugin`',
);

const packName = text(
  'a pack, a package name, a path that starts with `./`, or `plugin/pack` for a pack that a plugin offers',
  (name) => readEntryName(name) !== undefined,
);
const pack = v.lazy((value) => (isPack(value) ? v.any() : packName));
const packOptions = { preset: filled, config: options, observe: yesOrNo };
const packUse = closed(
  {
    pack,
    id: v.optional(text('lower-case words joined by -, at most 32 characters', (id) => shortName.test(id))),
    ...packOptions,
  },
  'a pack, its name, or an object with either as `pack`',
);
const hostPackName = text('the name of a pack of the host', (name) => name.trim() !== '' && name.length <= 1_000);
const workspacePackUse = closed({ pack: hostPackName, ...packOptions }, 'the name of a pack or an object');

const winners = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(isPlainObject, mustBe('an object from tool names to plugin names')),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const object = dataset.value;
    for (const [name, owner] of Object.entries(object)) {
      if (owner === undefined) continue;
      const path: [v.ObjectPathItem] = [toPathItem(object, name)];
      if (findToolNameProblem(name) !== undefined) addIssue({ message: 'is not a valid tool name', path });
      else if (typeof owner !== 'string' || !shortName.test(owner))
        addIssue({ message: 'must be the name of a plugin', path });
    }
  }),
);

const rules = listOf(factRuleSchema, 'a list of rules such as { "reads": "secrets" }');
const exceptions = listOf(allowRuleSchema, 'a list of rules such as { "runs": "git push origin main" }');
const checks = listOf(
  text(
    'a command such as `make lint`, with one space between words',
    (line) => commandRulePattern.test(line) && line.length <= 200,
  ),
  'a list of commands such as "make lint"',
);
const store = v.optional(
  text('a `postgres://` URL, or the absolute path of an SQLite file', (value) =>
    /^(?:postgres(?:ql)?:\/\/|\/|[A-Za-z]:[\\/])./.test(value),
  ),
);
const sharedEntries = {
  locked: yesOrNo,
  isolation,
  allowTools: toolNames,
  denyTools: toolNames,
  deny: rules,
  ask: rules,
  limits,
};

const hostSchema = closed(
  {
    plugins: listOf(useOf(plugin, pluginUse), 'a list of plugins'),
    packs: listOf(useOf(pack, packUse), 'a list of packs'),
    winners: v.optional(winners),
    tools: filled,
    subfolders: yesOrNo,
    model: filled,
    ...sharedEntries,
    allow: exceptions,
  },
  'an object',
);

const workspaceSchema = closed(
  { packs: listOf(useOf(hostPackName, workspacePackUse), 'a list of packs'), ...sharedEntries, $schema: filled },
  'an object',
  new Map([
    [
      'allow',
      'a workspace may only tighten; write it in `holdfast.config.ts` or in the `holdfast.policy.json` of your own folder',
    ],
    [
      'checks',
      'a workspace cannot say what counts as a check; write it in the `holdfast.policy.json` of your own folder',
    ],
    ['checkpoints', 'a workspace cannot say what is kept; write it in the `holdfast.policy.json` of your own folder'],
    [
      'store',
      'a workspace cannot say where sessions are kept; write it in the `holdfast.policy.json` of your own folder',
    ],
  ]),
);

const userSchema = closed(
  { deny: rules, ask: rules, allow: exceptions, checks, checkpoints: yesOrNo, store, $schema: filled },
  'an object such as { "deny": [{ "reads": "secrets" }] }',
);
