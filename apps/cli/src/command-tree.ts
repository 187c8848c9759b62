import type { Argument, Command, Help, Option } from 'commander';
import { namedModels } from './model-catalogue.ts';

/** What a value on the command line is, as far as a shell can complete it. */
export type ValueKind =
  | 'folder'
  | 'tool'
  | 'lockable'
  | 'model'
  | 'session'
  | 'call'
  | 'waiting'
  | 'shell'
  | 'command'
  | 'overrides'
  | 'pack'
  | 'policy'
  | 'plan'
  | 'named-model'
  | 'file'
  | 'new'
  | 'isolation'
  | 'other';

export interface DescribedOption {
  readonly short: string | undefined;
  readonly long: string;
  readonly description: string;
  /** Absent for a switch. */
  readonly value: { readonly name: string; readonly kind: ValueKind } | undefined;
  readonly repeats: boolean;
}

export interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
  readonly argument: { readonly name: string; readonly kind: ValueKind; readonly repeats: boolean } | undefined;
}

/** The program as a shell completes it: the options before any command, and the commands. */
export interface CommandTree {
  readonly options: readonly DescribedOption[];
  readonly commands: readonly DescribedCommand[];
}

// By the placeholders in the help: `<dir>` is a folder wherever it stands.
const kinds: ReadonlyMap<string, ValueKind> = new Map([
  ['dir', 'folder'],
  ['name', 'tool'],
  ['tools', 'tool'],
  ['tool', 'lockable'],
  ['model', 'model'],
  ['id', 'session'],
  ['call', 'call'],
  ['shell', 'shell'],
  ['command', 'command'],
  ['file', 'file'],
  ['pack', 'file'],
  ['side', 'file'],
  ['tier', 'isolation'],
]);

/** The words of the kinds that have few. */
export const modelWords: readonly string[] = ['offline', 'script:', 'openai:', 'anthropic:', 'google:'];
export const shellWords: readonly string[] = ['bash', 'zsh', 'fish'];
/** From the weakest to the strictest. */
export const isolationTiers = ['in-process', 'worker', 'subprocess', 'sandbox'] as const;
export const newKinds = ['tool', 'plugin', 'pack'] as const;
export type NewKind = (typeof newKinds)[number];
export const overridesActions = ['seed', 'status', 'diff'] as const;
export const packActions = ['check'] as const;
export const policyActions = ['diff', 'observed'] as const;
export const planActions = ['run', 'check'] as const;
const modelActions = ['list', 'pull', 'remove'] as const;
/** What a command about named models offers. */
export const namedModelWords: readonly string[] = [...modelActions, ...namedModels.map(({ name }) => name)];
// By the first command of a command: `plan check` is the second of its own.
const actionKinds = [
  { kind: 'pack', actions: packActions },
  { kind: 'policy', actions: policyActions },
  { kind: 'plan', actions: planActions },
  { kind: 'named-model', actions: modelActions },
] as const;
export type OverridesAction = (typeof overridesActions)[number];

/** Reads commander's own tree, help included, so that no completion can miss a command. */
export function describeProgram(program: Command): CommandTree {
  const help = program.createHelp();
  return {
    options: help.visibleOptions(program).map(describeOption),
    commands: help.visibleCommands(program).map((command) => ({
      name: command.name(),
      description: command.description(),
      options: describeOptions(command, help),
      argument: describeAction(command) ?? describeArgument(command.registeredArguments),
    })),
  };
}

/** Those of its own commands, too, each once. */
function describeOptions(command: Command, help: Help): readonly DescribedOption[] {
  const all = [command, ...command.commands].flatMap((each) => help.visibleOptions(each).map(describeOption));
  return [...new Map(all.map((option) => [option.long, option])).values()];
}

/** Of a command that has commands of its own: what is offered is them, and what they are about. */
function describeAction(command: Command): DescribedCommand['argument'] {
  const [first] = command.commands;
  if (first === undefined) return undefined;
  const kind = actionKinds.find(({ actions }) => actions.some((action) => action === first.name()))?.kind ?? 'policy';
  return { name: 'action', kind, repeats: true };
}

function describeOption(option: Option): DescribedOption {
  const { short, long, flags, description } = option;
  const name = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1];
  return {
    short,
    long: long ?? flags,
    description,
    value: name === undefined ? undefined : toValue(name),
    repeats: description.includes('may be repeated'),
  };
}

function describeArgument([first, second]: readonly Argument[]): DescribedCommand['argument'] {
  if (first === undefined) return undefined;
  if (first.name() === 'kind') return { name: first.name(), kind: 'new', repeats: false };
  // An action and the file that it is about: what is offered is both.
  if (first.argChoices !== undefined)
    return { name: `${first.name()} ${second?.name() ?? ''}`, kind: 'overrides', repeats: true };
  // A session and calls of it, in this order: what is offered is both, of the sessions that wait.
  if (second !== undefined) return { name: `${first.name()} ${second.name()}`, kind: 'waiting', repeats: true };
  return { ...toValue(first.name()), repeats: first.variadic };
}

function toValue(name: string): { readonly name: string; readonly kind: ValueKind } {
  return { name, kind: kinds.get(name) ?? 'other' };
}
