import { isWithin } from '../places/path.ts';
import { type FilePatterns, filePatterns } from './file-patterns.ts';

/** The host's own secret files. */
export interface SecretPatterns {
  /** Patterns of secret files, in addition to the known ones. Default: none. */
  readonly secrets?: readonly string[] | undefined;
  /** Patterns of files that are not secret. They override all others. Default: none. */
  readonly notSecret?: readonly string[] | undefined;
}

// Compiled once, on first use: every policy about secrets needs them.
let builtIn: { readonly known: FilePatterns; readonly examples: FilePatterns } | undefined;

/** True if a file is secret. Takes its path in the workspace, or its absolute path without the first `/`. */
export function secretFinder({ secrets = [], notSecret = [] }: SecretPatterns = {}): (key: string) => boolean {
  builtIn ??= { known: filePatterns(knownSecrets), examples: filePatterns(knownExamples) };
  const { known, examples } = builtIn;
  const added = filePatterns(secrets);
  const open = filePatterns(notSecret);
  // A folder with an example's name exempts nothing: files in it are judged by their own names.
  const isSecret = (key: string): boolean =>
    ((known.covers(key) && !examples.has(key)) || added.covers(key)) && !open.covers(key);
  const answers = new Map<string, boolean>();
  return (key) => {
    const answer = answers.get(key) ?? isSecret(key);
    if (answers.size >= maxAnswers) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}

/** Searches of a folder ask about the same files again and again. */
const maxAnswers = 20_000;

/** The key that patterns match: the path in the workspace, or the absolute path without the first `/` for a file outside it. */
export function keyOf(path: string, workspace: string): string {
  const isInside = path !== workspace && isWithin(path, workspace);
  return isInside ? path.slice(workspace === '/' ? 1 : workspace.length + 1) : path.slice(1);
}

/**
 * Common locations of secrets. Sources: for keys and certificates their usual extensions; for the rest the manual of each tool, which says
 * where it keeps its credentials.
 */
const knownSecrets: readonly string[] = [
  // Environments: dotenv, direnv, Wrangler.
  ...['.env', '.env.*', '*.env', '.envrc', '.dev.vars'],
  // Keys, certificates and vaults.
  ...['*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.ppk', '*.kdbx', '*.ovpn'],
  ...['id_{rsa,dsa,ecdsa,ed25519}*', '.ssh', '.gnupg', '.vault-token', '.vault_pass*', '.password-store'],
  // Git, its submodules, and curl.
  ...['.git-credentials', '**/.git/config', '**/.git/config.worktree', '.git/modules/**/config'],
  ...['**/.git/modules/*/config', '**/.config/git/credentials', '.netrc', '_netrc'],
  // Package registries: npm, PyPI, Cargo, RubyGems, Maven.
  ...['.npmrc', '.pypirc', '**/.cargo/credentials*', '**/.gem/credentials', '**/.m2/settings.xml'],
  // Clouds and clusters: AWS, Google, Azure, Kubernetes, Docker, Terraform, S3.
  ...['**/.aws/credentials', '**/.aws/sso', '**/.config/gcloud', 'application_default_credentials.json'],
  ...['.azure', 'local.settings.json', '**/.kube/config', 'kubeconfig', '*.kubeconfig', '**/.docker/config.json'],
  ...['.dockercfg', '.terraformrc', 'terraform.rc', 'credentials.tfrc.json', '*.tfstate', '*.tfstate.*', '*.tfvars'],
  ...['*.tfvars.json', '.s3cfg', '.boto', 'rclone.conf', 'credentials.json', '.credentials.json'],
  ...['{service-account,service_account}*.json', '*firebase-adminsdk*.json', 'client_secret*.json'],
  ...['**/.config/gh/hosts.yml'],
  // Databases and web servers.
  ...['.pgpass', '.my.cnf', '.mylogin.cnf', '.htpasswd', 'secrets.{json,yml,yaml,toml}'],
  // Histories of typed input, which may include passwords.
  ...['.{bash,zsh,psql,mysql,python}_history', '.node_repl_history'],
  // The system: passwords, and the environments of processes.
  ...['**/etc/{shadow,gshadow}*', '**/etc/sudoers', 'proc/*/{environ,mem,cmdline}'],
];

/** Exceptions: public files with similar names. */
const knownExamples: readonly string[] = [
  ...['*.example', '*.sample', '*.template', '*.dist', '*.pub'],
  ...['example.env', 'sample.env', 'template.env'],
];
