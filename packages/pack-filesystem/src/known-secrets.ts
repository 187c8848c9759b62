/**
 * Where secrets usually are. Sources: for keys and certificates their usual endings; for the rest the manual of each tool, which says
 * where it keeps its credentials.
 */
export const knownSecrets: readonly string[] = [
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
export const knownExamples: readonly string[] = [
  ...['*.example', '*.sample', '*.template', '*.dist', '*.pub'],
  ...['example.env', 'sample.env', 'template.env'],
];
