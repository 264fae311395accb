"""A gate's verdict as JUnit XML: a test case a rule and a wrong case, as CI servers show them."""

from pathlib import Path
from xml.etree import ElementTree as ET

from evals.results.gate import Verdict
from evals.results.loading import Results
from evals.running.log import write_whole
from rag.cleaning import without_invisible


def write_junit(verdict: Verdict, results: Results, path: Path) -> None:
    """Writes the file: broken rules are failures; cases that are not right are listed as skipped, with the reason."""
    wrong = _wrong_cases(results)
    suites = ET.Element("testsuites", name="citewise eval gate")
    rules = ET.SubElement(suites, "testsuite", name=f"gate {results.name}", tests=str(len(verdict.rules)))
    rules.set("failures", str(len(verdict.broken)))
    for rule in verdict.rules:
        case = ET.SubElement(rules, "testcase", classname=f"gate.{rule.kind}", name=rule.name)
        if rule.is_kept:
            ET.SubElement(case, "system-out").text = rule.told
        else:
            ET.SubElement(case, "failure", message=rule.told, type=rule.kind)
    cases = ET.SubElement(suites, "testsuite", name="cases that are not right", tests=str(len(wrong)))
    cases.set("skipped", str(len(wrong)))
    for case_id, question, reason in wrong:
        case = ET.SubElement(cases, "testcase", classname=f"cases.{results.name}", name=case_id)
        ET.SubElement(case, "skipped", message=reason)
        ET.SubElement(case, "system-out").text = question
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.indent(suites)
    write_whole(path, '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n")


def _wrong_cases(results: Results) -> list[tuple[str, str, str]]:
    """Id, question and reason of the cases whose first answer is not right, without what XML cannot hold."""
    found = []
    for case_id, case in results.cases.items():
        score = results.score(case_id, "accuracy")
        if score is not None and score.value == 0:
            found.append((case_id, without_invisible(case.question), without_invisible(score.reason)))
    return found
