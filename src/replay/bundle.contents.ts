/** Which files stand in a bundle. By itself, so that whoever only names them loads nothing else. */

/** Its files, in the order in which they stand in the archive. */
export const bundleFiles = {
  'README.txt': 'what this is, and what was taken out of it',
  'bundle.json': 'server, window and versions, for programs',
  'why.txt': 'why the server was as it was at the end of the window',
  'timeline.txt': 'what happened, a line a fact',
  'facts.ndjson': 'the facts themselves, a line each',
  'config.json': 'the entry with masked values, and its revisions',
  'catalog.txt': 'how its tools changed, word by word',
  'catalog.json': 'the same for programs, with the tools at the end of the window',
  'stderr.txt': 'the last words of its process at every failure',
} as const;
export type BundleFileName = keyof typeof bundleFiles;
