/** Files as people really have them: comments, odd indentation, unknown keys, other servers. By format. */
export const nasty = {
  json: {
    'a file of a running program, one long line': `{"numStartups":12,"mcpServers":{"mine":{"command":"npx","args":["-y","x"]}},"projects":{"/home/u/a b":{"history":[{"display":"héllo \\u003c"}]}},"big":12345678901234567890}`,
    'comments, tabs, trailing commas and CRLF': `// mine\r\n{\r\n\t/* servers */\r\n\t"mcpServers": {\r\n\t\t// the good one\r\n\t\t"mine": { "command": "a", }, // why\r\n\t},\r\n\r\n\t"theme" : "dark",\r\n}\r\n`,
    'a byte order mark and four spaces': `\uFEFF{\n    "mcpServers" : {\n        "mine" : {\n            "url" : "https://x.example/mcp"\n        }\n    }\n}`,
    'no key for servers': `{\n  "theme": "dark" // nice\n}\n`,
    'an empty key for servers': `{ "mcpServers": {} }\n`,
    'an empty object': `{}`,
    'nothing at all': ``,
  },
  toml: {
    'comments, arrays of tables, strings that look like headers': `# mine\nmodel = "o3" # why not\nnotes = """\n[mcp_servers.fake]\nurl = "no"\n"""\n\n[[profiles]]\n  name = 'a' # odd indent\n\n[mcp_servers.mine] # keep\ncommand = "npx"\nargs = [ "-y",\n  "x", # multi\n]\n\n# about the projects\n[projects."/home/u/a.b"]\ntrust_level = "trusted"\nwhen = 1979-05-27T07:32:00Z\nbig = 9223372036854775807\n`,
    'a parent table with a header of its own': `[mcp_servers]\n\n[mcp_servers.mine]\nurl = "https://x.example/mcp"\n[mcp_servers.mine.env]\nA = "b"`,
    'CRLF and no break at the end': `a = 1\r\n\r\n[tui]\r\ntheme = "x"`,
    'a byte order mark and comments': `\uFEFF# mine\na = 1\n\n[mcp_servers.mine]\ncommand = "x"\n`,
    'entries as pairs of one table': `[mcp_servers]\nmine = { command = "a" } # inline\n\n[x]\ny = 2\n`,
    'nothing at all': ``,
  },
  yaml: {
    'comments, odd indentation, anchors and block texts': `# mine\nGOOSE_MODEL: &m gpt # why\nextensions:\n    developer:   # built in\n        enabled: true\n        type: builtin\n        name: developer\n    mine:\n        type: stdio\n        cmd: npx\n        args: [-y, "x"]\n        note: |\n          extensions:\n            fake: 1\n\n# about the rest\nother: *m\nlist:\n- a\n- b\n`,
    'no key for servers': `a: 1 # one\nb:\n  - x\n`,
    'an empty map for servers': `a: 1\nextensions: {} # none yet\nb: 2\n`,
    'an empty key for servers': `extensions:\nb: 2`,
    CRLF: `a: 1\r\nextensions:\r\n  mine:\r\n    type: stdio\r\n    cmd: x\r\n`,
    'only a comment': `# nothing yet\n`,
    'nothing at all': ``,
  },
} as const;
