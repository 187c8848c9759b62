import type { CallFacts, Command, Place, PlaceView } from '@holdfast/core';
import { findWithin } from './places/within.ts';

/** A simple policy over facts, as the packs will have one: what the tests measure facts by. */

const secretName =
  /^(?:\.env(?:\..*)?|.*\.env|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx|kdbx)|\.npmrc|\.pypirc|\.netrc|\.git-credentials|credentials(?:\.json)?|\.pgpass|shadow|.*_history|hosts\.yml)$/iu;
const secretFolder = /\/(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.config\/gcloud|\.docker)(?:\/|$)/iu;
const notSecret = /\.(?:example|sample|template|dist|pub)$/iu;
const runsByItself =
  /\/(?:\.git\/.*|\.git|\.husky\/.*|\.vscode\/.*|\.idea\/.*|\.envrc|package\.json|\.npmrc|\.mcp\.json|\.claude\/.*|\.cursor\/.*)$/iu;

function isSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^\/proc\/(?:self|\d+)\/(?:environ|mem|cmdline)/.test(path)) return true;
  return (secretName.test(name) || secretFolder.test(path)) && !notSecret.test(name);
}

const destructive: readonly RegExp[] = [
  /^git push .*(?:--force|-f\b|--delete|-d\b|--mirror|--prune| \+| :)/,
  /^git (?:reset .*--hard|clean .*-\w*f|stash (?:clear|drop)|reflog (?:expire|delete)|filter-branch|branch .*-D|update-ref -d|checkout .*-- \.|checkout -f)/,
  /^(?:kill|pkill|killall|shutdown|reboot|halt|poweroff|mkfs.*|fdisk|dropdb|crontab|at|batch|systemctl|systemd-run|su|pkexec)\b/,
  /^(?:docker|podman) (?:system|volume|image|container|network) (?:prune|rm)/,
  /^sudo\b|^doas\b|^holdfast\b|^chroot\b/,
  /^chmod .*(?:-R|777)|^chown -R/,
  /^(?:npm|pnpm|yarn|cargo) (?:publish|unpublish|yank|token|login|config)/,
  /^(?:gh repo delete|kubectl delete|terraform destroy|helm uninstall|aws s3 rm)\b/,
];

/** What a person is asked about; nothing: the call is let through. */
export function findQuestions(facts: CallFacts, view: PlaceView): readonly string[] {
  const questions: string[] = [];
  for (const place of facts.reads) {
    if (isSecret(place.path) || !mayRead(place)) questions.push(`reads ${place.path}`);
    else if (place.recursive !== undefined) {
      const found = findWithin(place, view, { matches: isSecret });
      if (found.type !== 'none')
        questions.push(`reads ${found.type === 'found' ? found.path : `something in ${place.path}`}`);
    }
  }
  for (const place of facts.writes) if (!mayWrite(place)) questions.push(`writes ${place.path}`);
  for (const place of facts.deletes) if (!mayDelete(place, view)) questions.push(`deletes ${place.path}`);
  for (const { host, sends } of facts.hosts) if (sends) questions.push(`sends to ${host}`);
  for (const { kind, reason, use, ends } of facts.unclear) {
    if (kind === 'project' || kind === 'link') continue;
    if (kind === 'words' && use === 'reads' && isHarmlessName(ends)) continue;
    questions.push(`${kind}: ${reason}`);
  }
  for (const command of facts.runs) {
    const line = lineOf(command);
    if (destructive.some((pattern) => pattern.test(line))) questions.push(`runs ${line}`);
  }
  return questions;
}

function lineOf({ program, arguments: words }: Command): string {
  return [program, ...words.map((word) => word ?? '…')].join(' ');
}

/** A word of which the end is known is no secret when no secret ends like that. */
function isHarmlessName(ends: string | undefined): boolean {
  return (
    ends !== undefined &&
    /\.(?:md|ts|tsx|js|mjs|cjs|jsx|py|rs|go|c|h|cc|cpp|hpp|css|html|txt|log|java|rb|sh|snap|lock|svg|png)$/.test(ends)
  );
}

function mayRead({ path, inside }: Place): boolean {
  return inside || /^\/(?:tmp|usr|opt|lib|bin|nix)\//.test(path);
}

function mayWrite({ path, inside }: Place): boolean {
  if (/^\/tmp\//.test(path)) return !isSecret(path);
  if (!inside || isSecret(path)) return false;
  return !runsByItself.test(path);
}

const made =
  /\/(?:node_modules|dist|build|out|target|coverage|\.?cache|\.next|\.turbo|__pycache__|\.?venv|te?mp)(?:\/|$)/;

function mayDelete({ path, inside, recursive }: Place, view: PlaceView): boolean {
  const { workspace } = view;
  // A folder with everything in it, unless a build makes it again, or what is looked for has another name.
  const isWhole =
    recursive !== undefined &&
    recursive.only === undefined &&
    !made.test(path) &&
    view.disk?.look(path).type === 'folder';
  return !isWhole && inside && path !== workspace && !path.startsWith(`${workspace}/.git`) && !isSecret(path);
}
