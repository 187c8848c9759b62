import {
  allow,
  ask,
  definePack,
  definePolicy,
  type KeyedState,
  type Operation,
  type Pack,
  type Policy,
  type PolicyContext,
  type PreparedCall,
  type Tool,
  upsert,
} from '@holdfast/core';
import { checkToolName, copyJson, digestJson } from '@holdfast/core/internal';
import { denyWithoutFacts, type FactMatcher, type FactRule, factRuleSchema, readFactRule } from '@holdfast/facts/rules';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { type ArgumentCondition, describeHeld, operators } from './argument-rules.ts';

/** Calls by what they do, or `external`: of every tool that touches the world, as its effects say. */
export type CallChoice = 'external' | readonly FactRule[];

/**
 * When a person is asked about a tool: where one of the operators holds for an argument. What an argument means to a tool of the host, such
 * as an amount, is no fact, so this names the tool.
 */
export interface ApprovalRule extends ArgumentCondition {
  readonly tool: string;
  /** Shown to the person beside what holds. */
  readonly reason?: string | undefined;
}

/** The options of `approvals`. A tool that `rules` names has to be there. */
export interface ApprovalsOptions {
  /** Asked about at each call. Default: none. */
  readonly always?: CallChoice | undefined;
  /** Asked about until one has succeeded in the session: of the tool, or of the rule. Default: none. */
  readonly firstUse?: CallChoice | undefined;
  /** Asked about when the arguments say so. Default: none. */
  readonly rules?: readonly ApprovalRule[] | undefined;
  /**
   * Whether a yes holds for identical calls, which are those of the same tool with the same arguments: once such a call has succeeded
   * nobody is asked about it again in the session. Default false.
   */
  readonly rememberIdentical?: boolean | undefined;
}

const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));
const noNames =
  "must be `external`, or list what calls do, such as { runs: 'git push' }; for names of tools there is `requireApproval` of `@holdfast/policy`";
const callChoice = v.union([v.literal('external'), v.array(factRuleSchema)], noNames);
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
  always: v.optional(callChoice),
  firstUse: v.optional(callChoice),
  rules: v.optional(v.array(rule)),
  rememberIdentical: v.optional(v.boolean()),
});

/**
 * Which calls a person is asked about: by what they do (`call.facts`), at the first use, by arguments.
 *
 * A call that went on although the policy asked has been approved: by a person, a grant of the session or the host.
 *
 * State: keyed; `used/<tool>`, with the digest of a tool that has one, and `did/<rule>` for what `firstUse` has seen succeed, `same/<SHA-256>` for each call that was approved and has
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
  const byTool = Map.groupBy(rules, ({ tool }) => tool);
  const alwaysRules = readChoice(always);
  const firstRules = readChoice(firstUse);
  // What was asked about, by its digest. Only for as long as the call lives, so it is no state.
  const asked = new WeakMap<PreparedCall, string>();

  function findReasons({ tool, input, facts }: PreparedCall, { state, place }: Context): readonly string[] {
    const name = `\`${tool.name}\``;
    const held = (rules: readonly ReadRule[]) =>
      facts === undefined || place === undefined
        ? []
        : rules.flatMap(({ key, match }) => {
            const reason = match(facts, place);
            return reason === undefined ? [] : [{ key, reason }];
          });
    return [
      ...(isExternal(always, tool) ? [`${name} always needs a yes.`] : []),
      ...held(alwaysRules).map(({ reason }) => `${name} always needs a yes: ${reason}`),
      ...(isExternal(firstUse, tool) && !state.has(usedKey(tool))
        ? [`${name} has not been used in this session before.`]
        : []),
      ...held(firstRules).flatMap(({ key, reason }) =>
        state.has(key) ? [] : [`${name} has not done this in this session before: ${reason}`],
      ),
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
    tools: [...byTool.keys()],
    stateKind: 'keyed',
    check(call, context) {
      const { state, place } = context;
      asked.delete(call);
      const isBlind = call.facts === undefined || place === undefined;
      if (isBlind && alwaysRules.length + firstRules.length > 0 && call.tool.effects === 'external')
        return denyWithoutFacts('ask-person');
      const reasons = findReasons(call, context);
      if (reasons.length === 0) return allow;
      return rememberIdentical ? askUnlessApproved(call, reasons, state) : ask(reasons.join('\n'));
    },
    onResult(call, _result, { state, place }): readonly Operation[] {
      const { tool } = call;
      const digest = asked.get(call);
      const learned = [
        ...(isExternal(firstUse, tool) ? [usedKey(tool)] : []),
        ...firstRules.flatMap(({ key, match }) => {
          const { facts } = call;
          return facts !== undefined && place !== undefined && match(facts, place) !== undefined ? [key] : [];
        }),
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

type Context = Pick<PolicyContext<KeyedState<true>>, 'state' | 'place'>;

/** A rule, with the key under which its first use is kept. */
interface ReadRule {
  readonly key: string;
  readonly match: FactMatcher;
}

function readChoice(choice: CallChoice): readonly ReadRule[] {
  if (choice === 'external') return [];
  return choice.map((rule) => ({ key: `did/${JSON.stringify(rule)}`, match: readFactRule(rule) }));
}

function isExternal(choice: CallChoice, { effects }: Tool): boolean {
  return choice === 'external' && effects === 'external';
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
