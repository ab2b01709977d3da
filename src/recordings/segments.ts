/**
 * The files of one server's recording: appended to, rotated, the oldest dropped first. Nothing waits for them, and after
 * the first error nothing more is written.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Of the room for a server, one file takes this share, so that dropping the oldest leaves most of it. */
const SHARE = 8;
const SMALLEST_FILE = 16_384;
/** Bytes that may wait to be written before lines are refused. */
const MOST_WAITING = 16 * 1_048_576;

const isRecording = (name: string): boolean => /^\d{15}-\d{4}\.ndjson$/.test(name);

export interface SegmentsOptions {
  readonly folder: string;
  /** For all files together. */
  readonly maxBytes: number;
  /** Lines that every file begins with, the first one (`first`) and those after it. */
  readonly preface: (first: boolean) => string;
  /** Called once. */
  readonly onError: (error: unknown) => void;
}

export class Segments {
  readonly #options: SegmentsOptions;
  readonly #files: { name: string; bytes: number }[] = [];
  #handle: FileHandle | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | null = null;
  #started = 0;
  #over = false;

  private constructor(options: SegmentsOptions) {
    this.#options = options;
  }

  /** Makes the folder and the first file. Rejects when that cannot be done. */
  static async open(options: SegmentsOptions): Promise<Segments> {
    const segments = new Segments(options);
    // Both at once: the folder must not be there with another mode, not even for a moment.
    makePrivate(options.folder);
    segments.#files.push(...(await filesIn(options.folder)));
    await segments.#next();
    return segments;
  }

  /** Takes a line; false when too much is waiting already, or nothing is written any more. */
  take(line: string): boolean {
    if (this.#over || this.#waitingBytes > MOST_WAITING) return false;
    const text = `${line}\n`;
    this.#waiting.push(text);
    this.#waitingBytes += Buffer.byteLength(text);
    this.#start();
    return true;
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
      // Taken after the last look at what waits.
      if (this.#waiting.length > 0) this.#start();
    });
  }

  /** Resolves when what waits has been written. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    await this.flush();
    this.#over = true;
    await this.#handle?.close().catch(() => {});
    this.#handle = null;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#over) {
        const room = this.#fileLimit - (this.#files.at(-1)?.bytes ?? 0);
        const { lines, bytes } = this.#fitting(room);
        this.#waiting = this.#waiting.slice(lines.length);
        if (bytes > room) await this.#next();
        await this.#append(lines.join(''), bytes);
        this.#waitingBytes -= bytes;
      }
    } catch (error) {
      this.#over = true;
      this.#waiting = [];
      this.#waitingBytes = 0;
      await this.#handle?.close().catch(() => {});
      this.#handle = null;
      this.#options.onError(error);
    }
  }

  /** The lines that fit into `room` bytes; the first one in any case. */
  #fitting(room: number): { lines: string[]; bytes: number } {
    const lines: string[] = [];
    let bytes = 0;
    for (const line of this.#waiting) {
      const size = Buffer.byteLength(line);
      if (lines.length > 0 && bytes + size > room) break;
      lines.push(line);
      bytes += size;
    }
    return { lines, bytes };
  }

  get #fileLimit(): number {
    return Math.max(SMALLEST_FILE, Math.floor(this.#options.maxBytes / SHARE));
  }

  async #append(text: string, bytes: number): Promise<void> {
    const file = this.#files.at(-1);
    if (file === undefined) return;
    await this.#makeRoom(bytes);
    await this.#handle?.appendFile(text);
    file.bytes += bytes;
  }

  async #next(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
    const { folder } = this.#options;
    let handle: FileHandle | undefined;
    let name = '';
    for (let number = this.#started; handle === undefined; number += 1) {
      name = `${String(Date.now()).padStart(15, '0')}-${String(number % 10_000).padStart(4, '0')}.ndjson`;
      handle = await open(join(folder, name), 'ax', 0o600).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        return undefined;
      });
    }
    this.#handle = handle;
    this.#files.push({ name, bytes: 0 });
    const preface = this.#options.preface(this.#started === 0);
    this.#started += 1;
    await this.#append(preface, Buffer.byteLength(preface));
  }

  /** Drops the oldest files until `bytes` more fit. The file that is written now stays. */
  async #makeRoom(bytes: number): Promise<void> {
    const { folder, maxBytes } = this.#options;
    let total = this.#files.reduce((sum, file) => sum + file.bytes, bytes);
    while (total > maxBytes && this.#files.length > 1) {
      const oldest = this.#files.shift();
      if (oldest === undefined) return;
      await rm(join(folder, oldest.name), { force: true });
      total -= oldest.bytes;
    }
  }
}

/** Creates a folder and the one above it so that only their owner may enter; existing ones are narrowed to that. */
function makePrivate(folder: string): void {
  for (const each of [join(folder, '..'), folder]) {
    mkdirSync(each, { recursive: true, mode: 0o700 });
    if (process.platform !== 'win32') chmodSync(each, 0o700);
  }
}

/** The files of a recording, oldest first; none when there is no such folder. */
export async function filesIn(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter(isRecording).sort();
  return Promise.all(files.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}
