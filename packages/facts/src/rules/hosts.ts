/**
 * Hosts from which package managers, Git and similar tools fetch dependencies. Reading from them is normal;
 * sending data to them is not.
 */
export const usualSources: readonly string[] = [
  // Packages of JavaScript, Python, Rust, Go, Ruby, the JVM, .NET and PHP.
  ...['registry.npmjs.org', 'registry.yarnpkg.com', 'jsr.io', 'npm.jsr.io', 'nodejs.org', 'deno.land'],
  ...['pypi.org', 'files.pythonhosted.org', 'crates.io', '*.crates.io', 'static.rust-lang.org', 'proxy.golang.org'],
  ...['sum.golang.org', 'go.dev', 'rubygems.org', 'index.rubygems.org', 'repo.maven.apache.org', 'repo1.maven.org'],
  ...['plugins.gradle.org', 'services.gradle.org', 'api.nuget.org', 'packagist.org', 'repo.packagist.org'],
  // Operating systems and containers.
  ...['deb.debian.org', 'security.debian.org', 'archive.ubuntu.com', 'dl-cdn.alpinelinux.org', 'formulae.brew.sh'],
  ...['registry-1.docker.io', 'ghcr.io', 'quay.io', 'registry.k8s.io'],
  // Code hosts.
  ...['github.com', 'api.github.com', 'codeload.github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'],
];
