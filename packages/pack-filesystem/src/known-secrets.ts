import { filePatterns } from './file-patterns.ts';

/** Which files are secret. */
export interface SecretPatterns {
  /** Patterns of secret files, beside the known ones. Default: none. */
  readonly secrets?: readonly string[] | undefined;
  /** Patterns of files that are no secrets, whatever else says so. Default: none. */
  readonly notSecret?: readonly string[] | undefined;
}

/** Whether a file is secret, by its path as the filesystem resolves it. */
export function secretFinder({ secrets = [], notSecret = [] }: SecretPatterns): (key: string) => boolean {
  const known = filePatterns(knownSecrets);
  const examples = filePatterns(knownExamples);
  const added = filePatterns(secrets);
  const open = filePatterns(notSecret);
  // A folder by the name of an example opens nothing: what is in it goes by its own name.
  return (key) => ((known.covers(key) && !examples.has(key)) || added.covers(key)) && !open.covers(key);
}

/**
 * Where secrets usually are. Sources: for keys and certificates their usual endings; for the rest the manual of each tool, which says
 * where it keeps its credentials.
 */
const knownSecrets: readonly string[] = [
  // Environments: dotenv, direnv, Wrangler.
  ...['.env', '.env.*', '*.env', '.envrc', '.dev.vars'],
  // Keys, certificates and vaults.
  ...['*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.ppk', '*.kdbx', 'id_{rsa,dsa,ecdsa,ed25519}*'],
  ...['.ssh', '.gnupg', '.vault-token', '.password-store'],
  // Git and curl.
  ...['.git-credentials', '**/.git/config', '.netrc', '_netrc'],
  // Package registries: npm, PyPI, Cargo, RubyGems, Maven.
  ...['.npmrc', '.pypirc', '**/.cargo/credentials*', '**/.gem/credentials', '**/.m2/settings.xml'],
  // Clouds and clusters: AWS, Google, Azure, Kubernetes, Docker, Terraform, S3.
  ...['**/.aws/credentials', '**/.config/gcloud', '.azure', '**/.kube/config', 'kubeconfig'],
  ...['**/.docker/config.json', '.dockercfg', '.terraformrc', 'terraform.rc', '*.tfstate', '*.tfstate.*'],
  ...['.s3cfg', '.boto', 'credentials.json', 'service-account*.json', 'client_secret*.json', '**/.config/gh/hosts.yml'],
  // Databases and web servers.
  ...['.pgpass', '.my.cnf', '.htpasswd', 'secrets.{json,yml,yaml,toml}'],
];

/** What looks like one of these and is there to be read. */
const knownExamples: readonly string[] = [
  ...['*.example', '*.sample', '*.template', '*.dist', '*.pub'],
  ...['example.env', 'sample.env', 'template.env'],
];
