/** What a child process inherits. Pure. */
export type Variables = Readonly<Record<string, string | undefined>>;

const posixNames = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TZ',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'AWS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'DENO_CERT',
]);

/** Windows looks variables up without regard to letter case. */
const windowsNames = new Set([
  ...[...posixNames].map((name) => name.toUpperCase()),
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMMONPROGRAMFILES',
  'COMMONPROGRAMFILES(X86)',
  'COMMONPROGRAMW6432',
  'COMPUTERNAME',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROCESSOR_IDENTIFIER',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'PUBLIC',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
]);

/** Whether a variable of the daemon reaches every child without being asked for. */
export function isInherited(name: string, platform: string): boolean {
  const known = platform === 'win32' ? windowsNames.has(name.toUpperCase()) : posixNames.has(name);
  return known || /^(?:LC|XDG)_/.test(name);
}

/**
 * A child's whole environment: what is inherited, what `inheritEnv` adds, then `env` of the entry, which wins.
 * Shell functions that bash hands on as variables are left out.
 */
export function childEnvironment(
  daemon: Variables,
  inherit: boolean | readonly string[],
  own: Readonly<Record<string, string>>,
  platform: string,
): Readonly<Record<string, string>> {
  const same = platform === 'win32' ? (name: string) => name.toUpperCase() : (name: string) => name;
  const asked = new Set(typeof inherit === 'boolean' ? [] : inherit.map(same));
  const declared = new Set(Object.keys(own).map(same));
  const inherited = Object.entries(daemon).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined &&
      !pair[1].startsWith('()') &&
      !declared.has(same(pair[0])) &&
      (inherit === true || asked.has(same(pair[0])) || isInherited(pair[0], platform)),
  );
  return Object.fromEntries([...inherited, ...Object.entries(own)]);
}
