import {
  allow,
  ask,
  checkToolName,
  copyJson,
  definePack,
  definePolicy,
  digestJson,
  type KeyedState,
  type Operation,
  type Pack,
  type Policy,
  type PreparedCall,
  type Tool,
  upsert,
} from '@holdfast/core';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { type ArgumentCondition, describeHeld, operators } from './argument-rules.ts';

/** Tools by their names, or `external`: every one that touches the world, as its effects say. */
export type ToolChoice = 'external' | readonly string[];

/** When a person is asked about a tool: where one of the operators holds for an argument. */
export interface ApprovalRule extends ArgumentCondition {
  readonly tool: string;
  /** Shown to the person beside what holds. */
  readonly reason?: string | undefined;
}

/** The options of `approvals`. A tool that one of them names has to be there. */
export interface ApprovalsOptions {
  /** Asked about at each call. Default: none. */
  readonly always?: ToolChoice | undefined;
  /** Asked about until they have succeeded once in the session. Default: none. */
  readonly firstUse?: ToolChoice | undefined;
  /** Asked about when the arguments say so. Default: none. */
  readonly rules?: readonly ApprovalRule[] | undefined;
  /**
   * Whether a yes holds for identical calls, which are those of the same tool with the same arguments: once such a call has succeeded
   * nobody is asked about it again in the session. Default false.
   */
  readonly rememberIdentical?: boolean | undefined;
}

const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));
const toolChoice = v.union([v.literal('external'), v.array(toolName)]);
const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);
const limit = v.pipe(v.number(), v.finite());
const rule = v.pipe(
  v.object({
    tool: toolName,
    argument: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
    equals: v.optional(scalar),
    in: v.optional(v.pipe(v.array(scalar), v.minLength(1))),
    above: v.optional(limit),
    below: v.optional(limit),
    matches: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100))),
    missing: v.optional(v.literal(true)),
    reason: v.optional(v.pipe(v.string(), v.regex(/\S/u, 'must not be empty'), v.maxLength(500))),
  }),
  v.check((condition) => hasOneOperator(condition), `must have exactly one of ${operators.join(', ')}`),
);

const configSchema = v.object({
  always: v.optional(toolChoice),
  firstUse: v.optional(toolChoice),
  rules: v.optional(v.array(rule)),
  rememberIdentical: v.optional(v.boolean()),
});

/**
 * Which calls a person is asked about: of a tool, at its first use, by its arguments.
 *
 * A call that went on although the policy asked has been approved: by a person, a grant of the session or the host.
 *
 * State: keyed; `used/<tool>`, with the digest of a tool that has one, for each tool of `firstUse` that has succeeded, `same/<SHA-256>` for each call that was approved and has
 * succeeded, under `rememberIdentical`.
 */
export const approvals: Pack<ApprovalsOptions> = definePack<ApprovalsOptions, ApprovalsOptions>({
  name: 'approvals',
  version: manifest.version,
  description: 'Which calls a person is asked about, and how often.',
  configSchema,
  presets: {
    recommended: {
      description: 'Every tool that touches the world, until it has been used once.',
      config: { firstUse: 'external', rememberIdentical: true },
    },
    strict: {
      description: 'Every call that touches the world.',
      config: { always: 'external', rememberIdentical: false },
    },
  },
  policies: (options) => [askPerson(options)],
});

function askPerson(options: ApprovalsOptions): Policy<KeyedState<true>> {
  const { always = [], firstUse = [], rules = [], rememberIdentical = false } = options;
  const named = [always, firstUse].flatMap((choice) => (choice === 'external' ? [] : choice));
  const byTool = Map.groupBy(rules, ({ tool }) => tool);
  // What was asked about, by its digest. Only for as long as the call lives, so it is no state.
  const asked = new WeakMap<PreparedCall, string>();

  function findReasons({ tool, input }: PreparedCall, state: KeyedState<true>): readonly string[] {
    const name = `\`${tool.name}\``;
    return [
      ...(chooses(always, tool) ? [`${name} always needs a yes.`] : []),
      ...(chooses(firstUse, tool) && !state.has(usedKey(tool))
        ? [`${name} has not been used in this session before.`]
        : []),
      ...(byTool.get(tool.name) ?? []).flatMap((condition) => {
        const held = describeHeld(condition, input);
        return held === undefined
          ? []
          : [`${name}: ${held}.${condition.reason === undefined ? '' : ` ${condition.reason}`}`];
      }),
    ];
  }

  async function askUnlessApproved(call: PreparedCall, reasons: readonly string[], state: KeyedState<true>) {
    const digest = await digestCall(call);
    if (digest === undefined) return ask(reasons.join('\n'));
    if (state.has(`same/${digest}`)) return allow;
    asked.set(call, digest);
    return ask([...reasons, 'A yes also holds for the same call later in this session.'].join('\n'));
  }

  return definePolicy<true>({
    name: 'ask-person',
    tools: [...new Set([...named, ...byTool.keys()])],
    stateKind: 'keyed',
    check(call, { state }) {
      asked.delete(call);
      const reasons = findReasons(call, state);
      if (reasons.length === 0) return allow;
      return rememberIdentical ? askUnlessApproved(call, reasons, state) : ask(reasons.join('\n'));
    },
    onResult(call, _result, { state }): readonly Operation[] {
      const { tool } = call;
      const digest = asked.get(call);
      const learned = [
        ...(chooses(firstUse, tool) ? [usedKey(tool)] : []),
        ...(digest === undefined ? [] : [`same/${digest}`]),
      ];
      return learned.filter((key) => !state.has(key)).map((key) => upsert(key, true));
    },
  });
}

/** Of the very tool: another one under its name, or its code changed, has not been used. */
function usedKey({ name, origin }: Tool): string {
  return origin === undefined ? `used/${name}` : `used/${name} ${origin.digest ?? `${origin.kind} ${origin.source}`}`;
}

/** `undefined` for arguments that are no JSON: such calls are never the same. */
async function digestCall({ tool, input }: PreparedCall): Promise<string | undefined> {
  const { name, effects, dangerous, origin } = tool;
  // Another tool under its name is asked about again.
  const copied = copyJson([name, effects, dangerous, origin === undefined ? null : { ...origin }, input]);
  return copied.ok ? digestJson(copied.value) : undefined;
}

function chooses(choice: ToolChoice, { name, effects }: Tool): boolean {
  return choice === 'external' ? effects === 'external' : choice.includes(name);
}

function hasOneOperator(condition: ArgumentCondition): boolean {
  return operators.filter((operator) => condition[operator] !== undefined).length === 1;
}

function isToolName(name: string): boolean {
  try {
    checkToolName(name);
    return true;
  } catch {
    // Whoever asks says what is wrong, with the place in the options.
    return false;
  }
}
