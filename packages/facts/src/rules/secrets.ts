import { isWithin } from '../places/path.ts';
import { type FilePatterns, filePatterns } from './file-patterns.ts';

/** Which files are secret. */
export interface SecretPatterns {
  /** Patterns of secret files, beside the known ones. Default: none. */
  readonly secrets?: readonly string[] | undefined;
  /** Patterns of files that are no secrets, whatever else says so. Default: none. */
  readonly notSecret?: readonly string[] | undefined;
}

// Compiled once, on first use: each policy about secrets needs them.
let builtIn: { readonly known: FilePatterns; readonly examples: FilePatterns } | undefined;

/** Whether a file is secret, by its path in the workspace, or its absolute path without the first `/`. */
export function secretFinder({ secrets = [], notSecret = [] }: SecretPatterns = {}): (key: string) => boolean {
  builtIn ??= { known: filePatterns(knownSecrets), examples: filePatterns(knownExamples) };
  const { known, examples } = builtIn;
  const added = filePatterns(secrets);
  const open = filePatterns(notSecret);
  // A folder by the name of an example opens nothing: what is in it goes by its own name.
  return (key) => ((known.covers(key) && !examples.has(key)) || added.covers(key)) && !open.covers(key);
}

/** The path in the workspace, or for a file outside of it the absolute path without the first `/`: what patterns are about. */
export function keyOf(path: string, workspace: string): string {
  const isInside = path !== workspace && isWithin(path, workspace);
  return isInside ? path.slice(workspace === '/' ? 1 : workspace.length + 1) : path.slice(1);
}

/**
 * Where secrets usually are. Sources: for keys and certificates their usual endings; for the rest the manual of each tool, which says
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
  // What was typed, passwords among it.
  ...['.{bash,zsh,psql,mysql,python}_history', '.node_repl_history'],
  // The system: passwords, and what processes were started with.
  ...['**/etc/{shadow,gshadow}*', '**/etc/sudoers', 'proc/*/{environ,mem,cmdline}'],
];

/** What looks like one of these and is there to be read. */
const knownExamples: readonly string[] = [
  ...['*.example', '*.sample', '*.template', '*.dist', '*.pub'],
  ...['example.env', 'sample.env', 'template.env'],
];
