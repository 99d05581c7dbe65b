import re
s=open('/work/wt/stages/wip/score2.py').read()
a=s.index('import types, subprocess'); b=s.index('def find(c):'); e=s.index("if __name__")
s=s[:a]+'''
from saddlescope.stages import find_stages
def find(c):
    st=find_stages(c.loss,c.time,log_time=c.log_time)
    class G: pass
    out=[]
    for d in st.drops:
        g=G(); g.half=0; g.flank=0; g.deviations=d.deviations; out.append((d.at,g))
    return out
'''+s[e:]
exec(s)
