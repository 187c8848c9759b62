/**
 * Hosts from which package managers, Git and their like fetch by themselves what a project names: reading from them is part of a developer's
 * day. Data that is sent to them is not.
 */
export const usualSources: readonly string[] = [
  // Packages of JavaScript, Python, Rust, Go, Ruby, the JVM, .NET and PHP.
  ...['registry.npmjs.org', 'registry.yarnpkg.com', 'jsr.io', 'npm.jsr.io', 'nodejs.org', 'deno.land'],
  ...['pypi.org', 'files.pythonhosted.org', 'crates.io', '*.crates.io', 'static.rust-lang.org', 'proxy.golang.org'],
  ...['sum.golang.org', 'go.dev', 'rubygems.org', 'index.rubygems.org', 'repo.maven.apache.org', 'repo1.maven.org'],
  ...['plugins.gradle.org', 'services.gradle.org', 'api.nuget.org', 'packagist.org', 'repo.packagist.org'],
  // Systems and containers.
  ...['deb.debian.org', 'security.debian.org', 'archive.ubuntu.com', 'dl-cdn.alpinelinux.org', 'formulae.brew.sh'],
  ...['registry-1.docker.io', 'ghcr.io', 'quay.io', 'registry.k8s.io'],
  // Where code is.
  ...['github.com', 'api.github.com', 'codeload.github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'],
];
