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

/** Calls selected by their facts, or `external`: all calls of tools with external effects. */
export type CallChoice = 'external' | readonly FactRule[];

/**
 * An approval rule for one tool: it applies if its operator holds for an argument. Tools are named because the meaning of an argument,
 * such as an amount, is not a fact.
 */
export interface ApprovalRule extends ArgumentCondition {
  readonly tool: string;
  /** Shown to the person with the matching condition. */
  readonly reason?: string | undefined;
}

/** The options of `approvals`. Tools named in `rules` must exist. */
export interface ApprovalsOptions {
  /** Calls that always need approval. Default: none. */
  readonly always?: CallChoice | undefined;
  /** Calls that need approval until one has succeeded in the session, per tool or rule. Default: none. */
  readonly firstUse?: CallChoice | undefined;
  /** Calls that need approval because of their arguments. Default: none. */
  readonly rules?: readonly ApprovalRule[] | undefined;
  /**
   * True: once an approved call has succeeded, identical calls (same tool, same arguments) need no approval in the session. Default
   * false.
   */
  readonly rememberIdentical?: boolean | undefined;
}

const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));
const noNames =
  "must be `external`, or a list of rules such as { runs: 'git push' }; to name tools, use `requireApproval` of `@holdfast/policy`";
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
 * Decides which calls need a person's approval: by what they do (`call.facts`), at first use, or by arguments.
 *
 * A call that ran although the policy asked was approved by a person, a grant of the session or the host.
 *
 * State: keyed. For `firstUse`: `used/<tool>`, with the tool's digest if it has one, and `did/<rule>`, after a success. With
 * `rememberIdentical`: `same/<SHA-256>` for each approved call that succeeded.
 */
export const approvals: Pack<ApprovalsOptions> = definePack<ApprovalsOptions, ApprovalsOptions>({
  name: 'approvals',
  version: manifest.version,
  description: 'Decides which calls need approval, and how often.',
  configSchema,
  presets: {
    recommended: {
      description: 'Tools with external effects need approval until first used.',
      config: { firstUse: 'external', rememberIdentical: true },
    },
    strict: {
      description: 'Every call with external effects needs approval.',
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
  // Digests of calls sent for approval. They live as long as the call, so they are not state.
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
      ...(isExternal(always, tool) ? [`${name} always needs approval.`] : []),
      ...held(alwaysRules).map(({ reason }) => `${name} always needs approval: ${reason}`),
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
    return ask([...reasons, 'Approval also covers identical calls later in this session.'].join('\n'));
  }

  return definePolicy<true>({
    name: 'ask-person',
    mentions: [...byTool.keys()],
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

/** Identifies the tool itself: a replacement under its name, or changed code, counts as unused. */
function usedKey({ name, origin }: Tool): string {
  return origin === undefined ? `used/${name}` : `used/${name} ${origin.digest ?? `${origin.kind} ${origin.source}`}`;
}

/** `undefined` for arguments that are not JSON: such calls are never identical. */
async function digestCall({ tool, input }: PreparedCall): Promise<string | undefined> {
  const { name, effects, dangerous, origin } = tool;
  // Another tool under the same name needs approval again.
  const copied = copyJson([name, effects, dangerous, origin === undefined ? null : { ...origin }, input]);
  return copied.ok ? digestJson(copied.value) : undefined;
}

type Context = Pick<PolicyContext<KeyedState<true>>, 'state' | 'place'>;

/** A rule with the state key of its first use. */
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
    // The caller reports the problem with its position in the options.
    return false;
  }
}
