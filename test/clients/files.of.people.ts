/** Texts of a client's file as people and programs leave them, for a format and the key of its entries. */
import type { ConfigFormatName } from '../../src/clients/descriptor.ts';

const json = (key: string): Record<string, string> => ({
  'unknown keys and another entry': `{\n  "$schema": "https://x.example/s.json",\n  "theme": "dark",\n  "${key}": {\n    "mine": { "command": "npx", "args": ["-y", "x"], "odd": 1.50 }\n  },\n  "projects": { "/home/u/a b": { "big": 12345678901234567890, "e": 1e3 } }\n}\n`,
  'odd indentation': `{\n   "${key}"  :   {\n        "mine":{"command":"npx"\n     }   ,\n "x" : {"url":"https://x.example/mcp"}\n  }\n      }\n`,
  'one long line': `{"a":[1,2],"${key}":{"mine":{"command":"x"}},"z":"\\u003c"}`,
  'tabs and CRLF': `{\r\n\t"theme": "dark",\r\n\t"${key}": {\r\n\t\t"mine": {\r\n\t\t\t"command": "a"\r\n\t\t}\r\n\t}\r\n}\r\n`,
  'a byte order mark': `\uFEFF{\n    "${key}": {\n        "mine": { "command": "a" }\n    }\n}\n`,
  'no final newline': `{\n  "${key}": {\n    "mine": { "command": "a" }\n  },\n  "b": 2\n}`,
  'an empty key': `{ "${key}": {} }\n`,
  'an empty key over two lines': `{\n  "${key}": {\n  },\n  "b": 1\n}\n`,
  'no key': `{\n  "theme": "dark"\n}\n`,
  'an empty object': '{}',
  'an object over lines': '{\n\n}\n',
});

const jsonc = (key: string): Record<string, string> => ({
  ...json(key),
  comments: `// mine\n{\n  /* servers */\n  "${key}": {\n    // the good one\n    "mine": { "command": "a", }, // why\n    // at the end\n  },\n\n  // "off": { },\n  "theme" : "dark",\n}\n// bye\n`,
  'comments with CRLF': `// mine\r\n{\r\n\t"${key}": { // servers\r\n\t},\r\n}\r\n`,
  'a comment alone in the object': `{\n  // nothing yet\n}\n`,
  'a comment in the empty key': `{\n  "${key}": {\n    // put servers here\n  }\n}\n`,
});

const toml = (key: string): Record<string, string> => ({
  'comments, unknown keys and another entry': `# mine\nmodel = "o3" # why not\nnotes = """\n[${key}.fake]\nurl = "no"\n"""\n\n[[profiles]]\n  name = 'a' # odd indent\n\n[${key}.mine] # keep\ncommand = "npx"\nargs = [ "-y",\n  "x", # multi\n]\n\n# about the projects\n[projects."/home/u/a.b"]\ntrust_level = "trusted"\nwhen = 1979-05-27T07:32:00Z\nbig = 9223372036854775807\n`,
  'our key last': `a = 1\n\n[${key}.mine]\ncommand = "x"\n\n[${key}.mine.env]\nA = "b"\n`,
  'a header of its own': `[${key}]\n\n[${key}.mine]\nurl = "https://x.example/mcp"\n`,
  CRLF: `a = 1\r\n\r\n[${key}.mine]\r\ncommand = "x"\r\n\r\n[tui]\r\ntheme = "x"\r\n`,
  'a byte order mark': `\uFEFFa = 1\n\n[${key}.mine]\ncommand = "x"\n`,
  'no final newline': `a = 1\n\n[${key}.mine]\ncommand = "x"`,
  'blank lines at the end': `a = 1\n\n\n\n`,
  'a comment at the end': `a = 1\n\n# [${key}.off]\n# command = "x"\n`,
  'no key': `a = 1\n`,
  'entries as pairs': `[${key}]\nmine = { command = "a" } # inline\n\n[x]\ny = 2\n`,
  'only a comment': '# nothing yet\n',
});

const yaml = (key: string): Record<string, string> => ({
  'comments, unknown keys and another entry': `# mine\nGOOSE_MODEL: &m gpt # why\n${key}:\n    developer:   # built in\n        enabled: true\n        type: builtin\n        name: developer\n    mine:\n        type: stdio\n        cmd: npx\n        args: [-y, "x"]\n        note: |\n          ${key}:\n            fake: 1\n\n# about the rest\nother: *m\nlist:\n- a\n- b\n`,
  'our key last': `a: 1\n${key}:\n  mine:\n    type: stdio\n    cmd: x\n`,
  'our key last, and a comment': `a: 1\n${key}:\n  mine:\n    type: stdio\n    cmd: x\n    # about cmd\n# the end\n`,
  CRLF: `a: 1\r\n${key}:\r\n  mine:\r\n    type: stdio\r\n    cmd: x\r\nb: 2\r\n`,
  'a byte order mark': `\uFEFFa: 1\n${key}:\n  mine:\n    cmd: x\n`,
  'no final newline': `a: 1\n${key}:\n  mine:\n    cmd: x`,
  'a block text at the end': `a: 1\n${key}:\n  mine:\n    cmd: x\n    note: |\n      one\n\n      two\n\n`,
  'no key': `a: 1 # one\nb:\n  - x\n`,
  'an empty map': `a: 1\n${key}: {} # none yet\nb: 2\n`,
  'an empty key': `${key}:\nb: 2\n`,
  'an empty key at the end': `a: 1\n${key}:`,
  'only a comment': `# nothing yet\n`,
  'a document mark': `---\na: 1\n${key}:\n  mine:\n    cmd: x\n`,
});

const usual = { 'nothing at all': '', 'blank lines only': '\n\n' };

export const filesOfPeople = (format: ConfigFormatName, key: string): Record<string, string> => ({
  ...usual,
  ...{ json, jsonc, toml, yaml }[format](key),
});

/** Texts that are not what they should be. */
export const brokenFiles = (format: ConfigFormatName, key: string): readonly string[] =>
  ({
    json: [`{\n  "${key}": {\n    "a": \n  }\n}`, '[]', `{"${key}": []}`, `{"${key}": {}`, 'hello'],
    jsonc: [`{\n  "${key}": {\n    "a": \n  }\n}`, '[]', `{"${key}": []}`, `{"${key}": {}`, 'hello'],
    toml: [`a = 1\n[${key}.x]\nurl = \n`, 'a = 1\na = 2\n', `${key} = 3`, '[x'],
    yaml: [`a: 1\nb: [\n`, 'a: 1\na: 2\n', `${key}: [a]\n`, `a: 1\n---\nb: 2\n`, '- a\n'],
  })[format];
