import { HoldfastError, type JsonObject, type Pack, type Policy } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { observe } from './observe.ts';
import { describeOption } from './options.ts';
import { replacePolicy } from './replace-policy.ts';

export interface PackOptions {
  /** One of the pack's presets. Default `recommended`. */
  readonly preset?: string;
  /** The host's options, which override the preset's. */
  readonly config?: JsonObject;
  /** True for a dry run, as in `observe`. Default: the preset's choice. */
  readonly observe?: boolean;
  /**
   * Prefix of the policies' ids in place of the pack's name, so that a pack can be used twice. Lower case words joined by `-`, at most 32
   * characters.
   */
  readonly id?: string;
}

/**
 * Creates the policies of a pack, to pass to a call, a prompt or a section. Their ids have the pack's name as a prefix:
 * `git-safety-call-budget`.
 *
 * @throws HoldfastError `options.invalid` for a bad `id`, `pack.invalid` if the pack returns
 * invalid policies or equal ids; errors of compiling `configSchema` and of creating the policies.
 */
export function packPolicies<Config>(pack: Pack<Config>, options: PackOptions = {}): readonly Policy[] {
  const { preset: name = 'recommended', config = {}, id: prefix = pack.name } = options;
  checkId(prefix);
  const preset = Object.hasOwn(pack.presets, name) ? pack.presets[name] : undefined;
  if (preset === undefined) {
    const names = Object.keys(pack.presets).map((known) => `\`${known}\``);
    throw new HoldfastError(
      'pack.invalid',
      `The pack \`${pack.name}\` has no preset \`${name.slice(0, 100)}\`. Presets: ${names.join(', ')}.`,
      { data: { reason: 'preset.unknown', pack: pack.name, preset: name } },
    );
  }
  const policies: unknown = pack.policies(readConfig(pack, { ...preset.config, ...config }));
  if (!Array.isArray(policies)) throw invalid(pack, 'does not return a list of policies');
  const ids = new Set<string>();
  return policies.map((policy: unknown) => {
    if (!isPolicy(policy)) throw invalid(pack, 'returns an invalid policy');
    const id = `${prefix}-${policy.id}`.slice(0, 64);
    if (ids.has(id)) throw invalid(pack, `returns two policies with the id \`${policy.id}\``);
    ids.add(id);
    const named = withId(policy, id);
    return (options.observe ?? preset.observe) ? observe(named) : named;
  });
}

function checkId(id: unknown): void {
  if (typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,31}$/.test(id)) return;
  throw new HoldfastError(
    'options.invalid',
    `\`id\` must be lower case words joined by \`-\`, at most 32 characters, got \`${describeOption(id)}\`.`,
  );
}

function readConfig<Config>(pack: Pack<Config>, config: JsonObject): Config {
  const validation = compileSchema(pack.configSchema).validate(config);
  if (validation.ok) return validation.value;
  throw new HoldfastError(
    'pack.invalid',
    `Invalid options of the pack \`${pack.name}\`: ${describeIssues(validation.issues)}`,
    { data: { reason: 'config', pack: pack.name } },
  );
}

function withId(policy: Policy, id: string): Policy {
  return replacePolicy(policy, {
    id,
    check: (call, context) => policy.check(call, context),
    onResult: (call, result, context) => policy.onResult?.(call, result, context),
    reserve: (call, context) => policy.reserve?.(call, context),
  });
}

const policyId = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** True if it has the shape of a policy: an author may have changed it, or written untyped code. */
function isPolicy(value: unknown): value is Policy {
  if (!isPlainObject(value)) return false;
  const { name, id, mentions, check, onResult, reserve } = value;
  return (
    typeof name === 'string' &&
    typeof id === 'string' &&
    policyId.test(id) &&
    Array.isArray(mentions) &&
    mentions.every((tool) => typeof tool === 'string') &&
    typeof check === 'function' &&
    [onResult, reserve].every((part) => part === undefined || typeof part === 'function')
  );
}

function invalid({ name, version }: Pack, problem: string): HoldfastError {
  return new HoldfastError('pack.invalid', `The pack \`${name}\` ${version} ${problem}.`, {
    data: { pack: name, version },
  });
}
