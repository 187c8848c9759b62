import { show } from '../script/field.ts';
import type { Call, Handler, Runner } from '../script/types.ts';
import { readArguments, readRoles } from './arguments.ts';
import { applyRole } from './roles.ts';

interface Client {
  readonly host: string;
  /** Words of read-only commands. */
  readonly looks: RegExp;
  /** Words of commands that print a secret or run code. */
  readonly tells?: RegExp;
  readonly options?: string;
}

const looks =
  /^(?:list|ls|get|show|view|status|describe|diff|logs|log|version|help|search|whoami|top|explain|plan|validate|fmt|graph|output|providers|history|template|lint|checks|info)$/;
const clients: Readonly<Record<string, Client>> = {
  gh: {
    host: 'github.com',
    looks,
    tells: /^(?:auth|secret|api|extension|alias|codespace|config)\b/,
    options:
      'F:read body-file:read notes-file:read input:read b:text body:text t:text title:text R:text repo:text json:text q:text jq:text',
  },
  glab: { host: 'gitlab.com', looks, tells: /^(?:auth|api|variable|alias|config)\b/, options: 'R:text' },
  kubectl: {
    host: 'kubernetes',
    looks,
    tells: /\bsecrets?\b|^(?:exec|config|proxy|port-forward|cp|attach|debug)\b/,
    options: 'f:read filename:read kubeconfig:read n:text namespace:text context:text o:text l:text k:read',
  },
  helm: {
    host: 'kubernetes',
    looks,
    tells: /^get values\b|^plugin\b/,
    options: 'f:read values:read kubeconfig:read n:text post-renderer:run set-file:read',
  },
  terraform: {
    host: 'terraform',
    looks,
    tells: /^(?:console|login|output|state pull|show)\b/,
    options: 'var-file:read chdir:folder',
  },
  tofu: {
    host: 'terraform',
    looks,
    tells: /^(?:console|login|output|state pull|show)\b/,
    options: 'var-file:read chdir:folder',
  },
  aws: {
    host: 'amazonaws.com',
    looks: /^(?:ls|list-.*|describe-.*|get-caller-identity|help)$/,
    tells: /^(?:configure|secretsmanager|ssm|sts|ecr get-login)\b|get-(?:secret|session|login|parameter)/,
    options: 'profile:text region:text output:text query:text cli-input-json:read',
  },
  gcloud: {
    host: 'googleapis.com',
    looks,
    tells: /\b(?:auth|print-\w+-token|secrets|ssh|config-helper)\b/,
    options: 'project:text account:text key-file:read',
  },
  az: {
    host: 'azure.com',
    looks,
    tells: /\b(?:get-access-token|keyvault|secret|login|rest)\b/,
    options: 'n:text g:text o:text',
  },
};

/** A client of a cloud service: the data it sends, the files it reads, the secrets it may print. */
function clientHandler({ host, looks: onlyLooks, tells, options = '' }: Client): Handler {
  const roles = readRoles(options);
  return (call: Call, runner: Runner): undefined => {
    const given = readArguments(call.words, roles);
    for (const { role, value, name } of given.options)
      if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    for (const field of given.operands) applyRole('maybe', field, { call, runner, recursion: { skips: [] }, name: '' });
    if (given.unsure) runner.unclear('words', `cannot tell which options \`${show(call.program)}\` gets`);
    const line = given.operands.map(({ text }) => text).join(' ');
    const isLook = given.operands.slice(0, 4).some(({ text, known }) => known && onlyLooks.test(text)) || line === '';
    runner.facts.host({ scheme: 'https', host, sends: !isLook });
    if (tells?.test(line) === true)
      runner.unclear(
        'words',
        `\`${show(`${call.program} ${line}`)}\` may print a secret, or run code that is not analyzed`,
      );
  };
}

export const cloudPrograms: readonly (readonly [string, Handler])[] = Object.entries(clients).map(
  ([name, client]) => [name, clientHandler(client)] as const,
);
