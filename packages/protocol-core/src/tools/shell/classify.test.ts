import { describe, expect, it } from "vitest";
import type { CommandAction } from "./action.ts";
import { classifyArgv, classifyCommand } from "./classify.ts";

const CWD = "/home/me/app";

/** `R name path`, `L path`, `S query|path` or `?`, for tables of cases; `-` stands for null. */
function brief(action: CommandAction): string {
  switch (action.type) {
    case "read":
      return `R ${action.name} ${action.path.replace(`${CWD}/`, "")}`;
    case "listFiles":
      return `L ${action.path ?? "-"}`;
    case "search":
      return `S ${action.query ?? "-"}|${action.path ?? "-"}`;
    case "unknown":
      return "?";
  }
}

const classify = (script: string): CommandAction[] => classifyCommand(script, { cwd: CWD });
const briefly = (script: string): string => classify(script).map(brief).join(" + ");
const texts = (script: string): string[] => classify(script).map((action) => action.command);

function cases(rows: readonly (readonly [string, string])[]): void {
  it.each(rows)("%s → %s", (script, expected) => expect(briefly(script)).toBe(expected));
}

describe("listings", () => {
  cases([
    ["ls", "L -"],
    ["ls -la --color=auto opal/src", "L opal"],
    ["ls -w 99 --format long opal", "L opal"],
    ["ls --sort time opal", "L time"],
    ["ls -- -opal", "L -opal"],
    ["exa --sort size -I x opal", "L opal"],
    ["eza --time-style iso opal", "L opal"],
    ["tree -L 4 --charset ascii opal jade", "L opal"],
    ["du -d 4 --exclude x -B 1 opal", "L opal"],
    ["git ls-files --exclude-from x opal", "L opal"],
    ["git -C opal ls-files", "?"],
    ["/bin/ls opal", "?"],
    ["ls '|' opal", "L |"],
  ]);
});

describe("searches", () => {
  cases([
    ["rg", "S -|-"],
    ["rg -n -g '*.c' --type-not js zircon opal/src jade", "S zircon|opal"],
    ["rg --sort path zircon", "S path|zircon"],
    ["rg -e zircon opal", "S zircon|opal"],
    ["rg -- -zircon opal", "S opal|-"],
    ["rga a/b/c 'x y/z.c'", "S a/b/c|z.c"],
    ["ripgrep-all --files opal jade", "L opal"],
    ["rg zircon --files", "L zircon"],
    ["rg -- zircon --files", "L zircon"],
    ["rg zircon '|' --files", "S zircon|-"],
    ["grep -rn zircon opal jade", "S zircon|opal"],
    ["egrep -m 3 --after-context 2 zircon opal", "S zircon|opal"],
    ["fgrep -e zircon -e ruby opal", "S zircon|opal"],
    ["grep --file rules -e zircon opal", "S rules|opal"],
    ["grep --regexp=zircon opal", "S opal|-"],
    ["grep --include '*.c' zircon opal", "S *.c|zircon"],
    ["grep -- -zircon opal", "S -zircon|opal"],
    ["grep -e", "S -|-"],
    ["grep '&&' opal", "S -|-"],
    ["git grep -C 4 zircon opal/jade.c", "S zircon|jade.c"],
    ["git --no-pager grep zircon", "?"],
    ["ag -G c --ignore-dir x zircon opal", "S zircon|opal"],
    ["ack -A 4 zircon opal", "S 4|zircon"],
    ["pt --path-to-ignore x zircon", "S zircon|-"],
    ["fd -e c -E x zircon opal", "S zircon|opal"],
    ["fd zircon", "S zircon|-"],
    ["fd ./opal", "L opal"],
    ["fd 'a\\b'", "L b"],
    ["fd -H", "L -"],
    ["fd .zircon", "S .zircon|-"],
    ["find opal/src -type f", "L opal"],
    ["find opal -iname 'z*' -name ruby", "S z*|opal"],
    ["find -path zircon", "S zircon|zircon"],
    ["find '(' '!' -regex zircon ')' opal", "S zircon|zircon"],
    ["find opal -name", "L opal"],
    ["find opal -wholename zircon", "L opal"],
  ]);
});

describe("reads", () => {
  cases([
    ["cat opal/src/jade.c", "R jade.c opal/src/jade.c"],
    ["cat -A -- jade.c", "R jade.c jade.c"],
    ["cat -- -jade.c", "R -jade.c -jade.c"],
    ["cat jade.c ruby.c", "?"],
    ["cat -", "?"],
    ["cat ../jade.c", "R jade.c /home/me/jade.c"],
    ["more -d jade.c", "R jade.c jade.c"],
    ["bat --style plain --line-range 1:2 jade.c", "R jade.c jade.c"],
    ["batcat -l c jade.c", "?"],
    ["less -p zircon -j 4 jade.c", "R jade.c jade.c"],
    ["head jade.c", "R jade.c jade.c"],
    ["head -n 33 -q jade.c ruby.c", "R jade.c jade.c"],
    ["head -n33 jade.c", "R jade.c jade.c"],
    ["head -n '' jade.c", "R jade.c jade.c"],
    ["head -q -n 33 jade.c", "?"],
    ["head -33 jade.c", "?"],
    ["head -c 33 jade.c", "?"],
    ["head -n +33 jade.c", "?"],
    ["head -n 33x jade.c", "?"],
    ["tail -n +33 jade.c", "R jade.c jade.c"],
    ["tail -n+33 jade.c", "R jade.c jade.c"],
    ["tail -n '' jade.c", "?"],
    ["tail -n + jade.c", "?"],
    ["awk -F : '{print $1}' jade.c ruby.c", "R jade.c jade.c"],
    ["awk -f prog.awk jade.c", "R jade.c jade.c"],
    ["awk --file=prog.awk jade.c", "?"],
    ["gawk '{print}' jade.c", "?"],
    ["nl -ba -s ': ' jade.c", "R jade.c jade.c"],
    ["nl -n ln jade.c", "R ln ln"],
    ["sed -n 3,44p jade.c", "R jade.c jade.c"],
    ["sed -E -n 44p -- jade.c ruby.c", "R jade.c jade.c"],
    ["sed -n -e 3p -e 's/x/y/' jade.c", "R jade.c jade.c"],
    ["sed --expression 3p -n jade.c", "R jade.c jade.c"],
    ["sed -n -f prog.sed 3p jade.c", "R jade.c jade.c"],
    ["sed -n jade.c 3p", "R jade.c jade.c"],
    ["sed -n '$p' jade.c", "?"],
    ["sed -n '3,+5p' jade.c", "?"],
    ["sed -n '3,p' jade.c", "?"],
    ["sed -n '3p;5p' jade.c", "?"],
    ["sed --quiet 3p jade.c", "?"],
    ["sed -nE 3p jade.c", "?"],
    ["sed 3p jade.c", "?"],
    ["Get-Content -Raw -Path 'opal/jade 1.c'", "R jade 1.c opal/jade 1.c"],
    ["GET-CONTENT -literalpath jade.c", "R jade.c jade.c"],
    ["Get-Content jade.c -Tail 9", "?"],
    ["Get-Content jade.c ruby.c", "?"],
    ["Get-Content 'ja*.c'", "?"],
    ["Get-Content 'a;b'", "?"],
    ["Get-Content ''", "?"],
    ["Get-ChildItem opal", "?"],
  ]);
});

describe("inline Python", () => {
  cases([
    ["python3 -c 'print(os.listdir(\"opal\"))'", "L -"],
    ["python2.7 -u -c 'print(glob.glob(1))'", "L -"],
    ["python -c 'x.rglob(y)'", "L -"],
    ["python3 -c 'x.iterdir()'", "?"],
    ["python3 -c 1 -c os.walk", "?"],
    ["python3 '|' -c os.walk", "?"],
    ["python3 zircon.py", "?"],
    ["python4 -c os.walk", "?"],
  ]);
});

describe("formatting commands are dropped", () => {
  cases([
    ["ls opal | sort -u | uniq -c | head -n 7", "L opal"],
    ["wc -l jade.c; tr a b && cut -c1 x; column x; tee x; yes; printf zircon; ls", "L -"],
    ["rg zircon | awk -F: '{print $2}'", "S zircon|-"],
    ["rg zircon | awk '{print $2}' jade.c", "S zircon|- + R jade.c jade.c"],
    ["ls opal | head | head -7 | head -c 70 | tail -c +7", "L opal"],
    ["ls opal | head -n +7", "?"],
    ["ls opal && head -7 jade.c", "?"],
    ["ls opal | sed -n | sed 's/x/y/' jade.c", "L opal"],
    ["ls opal | tail jade.c", "L opal + R jade.c jade.c"],
    ["wc -l jade.c | sort", "?"],
    ["ls opal | xargs rm -f", "L opal"],
    ["ls opal | xargs", "L opal"],
  ]);
});

describe("commands that edit files make the script unknown", () => {
  cases([
    ["ls opal && sed -i 's/x/y/' jade.c", "?"],
    ["ls opal | sed -Eni.bak 3p jade.c", "?"],
    ["ls opal | sed --in-place=.bak 3p jade.c", "?"],
    ["sed -n 3p jade.c -i", "?"],
    ["ls opal | sed -ei", "L opal"],
    ["ls opal | sed -ne -i", "L opal"],
    ["ls opal | sed --file -i", "L opal"],
    ["ls opal | sed x -- -i", "L opal"],
    ["ls opal | xargs -n 2 -I {} sed -i zircon", "?"],
    ["ls opal | xargs -n 2 -- sed -zi zircon", "?"],
    ["ls opal | xargs --max-args 2 sed -i zircon", "L opal"],
    ["ls opal | xargs -P2 perl -pi -e zircon", "?"],
    ["ls opal | xargs perl -wpi -e zircon", "L opal"],
    ["ls opal | xargs ruby x -ibak", "?"],
    ["ls opal | xargs ruby --in-place zircon", "?"],
    ["ls opal | xargs rg --replace x y", "?"],
    ["ls opal | xargs rg --replace=x y", "L opal"],
    ["xargs sed -i zircon", "?"],
  ]);
});

describe("changing directory", () => {
  cases([
    ["cd opal && cat jade.c", "R jade.c opal/jade.c"],
    ["cd opal; cat jade.c; cd ../ruby | cat jade.c", "R jade.c opal/jade.c + R jade.c ruby/jade.c"],
    ["cd -P one opal && cat jade.c", "R jade.c opal/jade.c"],
    ["cd -- -opal && cat jade.c", "R jade.c -opal/jade.c"],
    ["cd one -- two three && cat jade.c", "R jade.c two/jade.c"],
    ["cd - && cd && cat jade.c", "R jade.c jade.c"],
    ["cd /opal && cat jade.c && cat /ruby/jade.c", "R jade.c /opal/jade.c + R jade.c /ruby/jade.c"],
    ["cd 'C:\\opal' && cat jade.c", "R jade.c C:\\opal/jade.c"],
    ["cd opal && ls jade && rg zircon ruby", "L jade + S zircon|ruby"],
    ["cd opal", ""],
    ["cd opal && wc -l jade.c", ""],
    ["cd opal && make", "?"],
  ]);
});

describe("simplification", () => {
  cases([
    ["echo --- && echo && ls opal", "L opal"],
    ["ls opal && echo ---", "?"],
    ["true && echo x; ls opal || true", "L opal"],
    ["true x && ls opal", "?"],
    ["true; true", ""],
    ["true", "?"],
    ["true; echo", "?"],
    ["ls opal | nl -ba", "L opal"],
    ["ls opal | nl -b a", "?"],
    ["nl -ba; echo x; ls opal", "L opal"],
    ["nl -ba | nl", "?"],
    ["pwd && tree opal", "?"],
    ["bash -lc 'ls opal'", "?"],
  ]);

  it("collapses equal neighbours only", () => {
    expect(briefly("ls opal; ls 'opal'; ls; ls opal")).toBe("L opal + L - + L opal");
    expect(briefly("cd opal; cat jade.c; cd .; cat jade.c")).toBe("R jade.c opal/jade.c");
    expect(briefly("cat jade.c; cd opal; cat jade.c")).toBe("R jade.c jade.c + R jade.c opal/jade.c");
  });

  it("answers one unknown with the whole script, verbatim", () => {
    const script = " ls opal;\n make  'x' ";
    expect(classify(script)).toEqual([{ type: "unknown", command: script }]);
  });
});

describe("the text of an action", () => {
  it("is the script with its quoting normalised when there is one command", () => {
    expect(texts("rg  \"x y\" 'opal'")).toEqual(["rg 'x y' opal"]);
    expect(texts("rg 'x\\y' a=b")).toEqual(["rg \"x\\\\y\" 'a=b'"]);
    expect(texts("rg zircon \\\n opal")).toEqual(["rg zircon '' opal"]);
    expect(texts("ls opal;")).toEqual(["ls 'opal;'"]);
  });

  it("is the command's own words when there are several or a word spells a connector", () => {
    expect(texts("ls  opal && cat  jade.c")).toEqual(["ls opal", "cat jade.c"]);
    expect(texts("ls  opal | wc")).toEqual(["ls opal"]);
    expect(texts("ls opal \\\n '|'")).toEqual(["ls opal '|'"]);
  });

  it("is the whole script for a read piped through `sed -n`", () => {
    expect(texts("cat  jade.c | sed -n 3p")).toEqual(["cat  jade.c | sed -n 3p"]);
    expect(texts("cat jade.c|sed -n 3p")).toEqual(["cat jade.c"]);
    expect(texts("cat jade.c && sed -n")).toEqual(["cat jade.c"]);
    expect(texts("cat jade.c | sed -e x")).toEqual(["cat jade.c"]);
    expect(texts("ls opal | sed -n 3p")).toEqual(["ls opal"]);
  });
});

describe("argument vectors", () => {
  it("reads the script of a POSIX wrapper and keeps that of PowerShell", () => {
    expect(classifyArgv(["bash", "-lc", "cat jade.c"], CWD).map(brief)).toEqual(["R jade.c jade.c"]);
    expect(classifyArgv(["pwsh", "-c", "cat jade.c"], CWD)).toEqual([{ type: "unknown", command: "cat jade.c" }]);
  });

  it("splits plain words at connectors and drops an answering `yes`", () => {
    const argv = ["y", "|", "cd", "opal", "&&", "cat", "jade 1.c", "|", "rg", "zircon"];
    expect(classifyArgv(argv, CWD)).toEqual([
      { type: "read", command: "cat 'jade 1.c'", name: "jade 1.c", path: `${CWD}/opal/jade 1.c` },
      { type: "search", command: "rg zircon", query: "zircon", path: null },
    ]);
  });

  it("joins the words when it does not understand them", () => {
    expect(classifyArgv(["make", "a b"], CWD)).toEqual([{ type: "unknown", command: "make 'a b'" }]);
    expect(classifyArgv(["ls", "|", "wc"], CWD)).toEqual([{ type: "unknown", command: "ls '|' wc" }]);
    expect(classifyArgv([], CWD)).toEqual([{ type: "unknown", command: "" }]);
  });
});
